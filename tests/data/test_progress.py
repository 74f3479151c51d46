import io

from rich.console import Console

from agentgym_r1.data.progress import bars


def test_a_bar_a_label_is_drawn_on_a_terminal():
    output = io.StringIO()
    with bars(Console(file=output, force_terminal=True, width=100)) as report:
        report("train.jsonl", 5, 10)
        report("train.jsonl", 10, 10)
        report("test.jsonl", 3, None)
    assert "train.jsonl" in output.getvalue()
    assert "100%" in output.getvalue()
    assert "test.jsonl" in output.getvalue()


def test_nothing_is_written_to_a_log_file(capsys):
    with bars() as report:
        report("train.jsonl", 5, 10)
    assert capsys.readouterr() == ("", "")
