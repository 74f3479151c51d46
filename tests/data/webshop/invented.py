"""Invented products in the official format."""

from typing import Any


def record(asin: str, **changes: Any) -> dict[str, Any]:
    """One product record of items_shuffle*.json."""
    return {
        "asin": asin,
        "name": f"Tin Whistle {asin}",
        "category": "music",
        "query": "Tin Whistles ",
        "page": 3,
        "product_category": "Music › Winds › Whistles",
        "full_description": "A loud whistle.",
        "small_description": ["Six holes. ", "Key of D."],
        "pricing": "$9.50",
        "images": ["https://shop.invalid/1.jpg", "https://shop.invalid/2.jpg"],
        "average_rating": "",
        "customization_options": "",
        **changes,
    }


def choices(**options: list[str]) -> dict[str, Any]:
    """Options in the official form."""
    return {name: [{"value": value, "image": None} for value in values] for name, values in options.items()}


RECORDS = [
    record("A1", customization_options=choices(Color=["Red/Gold", "blue"], Size=["Large ", "small"])),
    record("A2", pricing="$5 to $7.25", small_description="One text.", customization_options={"Size": None}),
    record("nan"),
    record("A1", name="the same asin again"),
    record("ELEVENCHARS"),
    record("A3", pricing="", category="garden", customization_options=choices(Style=["1877black", "plain"])),
    record("A4", pricing="$985.00"),
]
LISTED = {
    "A1": {
        "attributes": ["brass made", "easy play"],
        "instruction": "Get a whistle",
        "instruction_attributes": ["easy play"],
    },
    "A2": {"attributes": []},
    "A3": {"attributes": ["rust free"], "instruction": "Get a stand", "instruction_attributes": ["rust free"]},
    "A4": {"attributes": ["gold plated"], "instruction": "Get the best", "instruction_attributes": ["gold plated"]},
}
HUMAN = {
    "A1": [
        {
            "instruction": "a red one please.",
            "instruction_attributes": ["brass made"],
            "instruction_options": ["red | gold"],
        },
        {"instruction": "anything", "instruction_attributes": [], "instruction_options": []},
        {"instruction": "a tiny one...", "instruction_attributes": ["easy play"], "instruction_options": ["tiny"]},
    ]
}
