"""The sentences that passages are made of, by kind of entity.

Placeholders: a relation stands for its object ({born_in}), {self} for the subject as it stands in a sentence, {name}
for its bare name, {alias} for its first alias, {they}, {them} and {their} for its pronouns, {a_occupation} for an
object with its article, {some_person} for any person, likewise for other kinds, a key of WORDS for one of its words.
"""

from dataclasses import dataclass

from agentgym_r1.data.worlds.seeded import words


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence in several wordings with the same facts; left out where one is missing or ``unless`` is there."""

    variants: tuple[str, ...]
    unless: str = ""


def line(*variants: str, unless: str = "") -> Line:
    """Return a line of these wordings."""
    return Line(variants, unless)


WORDS = {
    "craft": ("glass", "linen", "cheese", "pottery", "clocks", "violins", "lace", "mustard", "paper", "leather goods"),
    "feast": ("lantern fair", "kite festival", "cattle market", "boat race", "chess tournament", "flower parade"),
    "hobby": ("beekeeping", "woodcarving", "astronomy", "bookbinding", "rowing", "rose growing", "calligraphy"),
    "thing": ("maps", "snail shells", "door keys", "postage stamps", "pressed flowers", "old clocks", "walking sticks"),
    "mood": ("patient", "stubborn", "generous", "witty", "shy", "restless", "cheerful"),
    "stone": ("sandstone", "granite", "slate", "limestone", "basalt", "marble"),
    "colour": ("grey", "green", "reddish", "yellow", "dark blue", "pale brown"),
    "season": ("spring", "summer", "autumn", "winter"),
    "number": words("two three four five six seven eight nine eleven twelve"),
    "theme": ("a family quarrel", "a lost inheritance", "a long journey", "an old friendship", "a missing letter",
              "a flood", "a forbidden marriage", "a trial"),
    "figure": ("a clockmaker", "two sisters", "a ferryman", "a village teacher", "a retired judge", "three brothers",
               "a travelling actor", "a young doctor"),
    "sport": ("skiing", "hiking", "sailing", "cycling", "fishing"),
    "animal": ("otters", "eagles", "wild goats", "cranes", "beavers", "salamanders"),
    "food": ("seeds", "small insects", "fallen fruit", "pollen", "snails", "fungi"),
}  # fmt: skip

FACTS = {
    "country": (
        line(
            "{name}, officially the {alias}, is a country whose capital is {capital}.",
            "The {alias}, commonly called {name}, is a country with its capital in {capital}.",
        ),
        line("The official language is {language}, and the currency is the {currency}.",
             "Its people speak {language} as the official language and pay with the {currency}."),
        line("The present constitution was adopted in {constitution}.", "Its constitution dates from {constitution}."),
    ),
    "region": (
        line("{name} is a region of {country}.", "{name} is one of the regions that make up {country}."),
        line("Its administrative seat is {seat}.", "The regional government has its seat in {seat}."),
    ),
    "town": (
        line("{name} is a town in {region}.", "{name} is a town in the region of {region}."),
        line("It was formerly called {alias}.", "Until a reform of place names it was known as {alias}."),
        line("It lies on {river}.", "{river} flows through the town."),
        line("The town was founded in {founded} and has {population} inhabitants.",
             "Founded in {founded}, it now has {population} inhabitants."),
    ),
    "mountain": (
        line("{name} is a mountain in {region} with a height of {height} metres.",
             "{name}, {height} metres high, is a mountain in the region of {region}."),
        line("The first ascent was made by {first_climber} in {climbed}.",
             "It was first climbed in {climbed} by {first_climber}."),
    ),
    "lake": (
        line("{name} is a lake in {region}.", "{name} lies in the region of {region}."),
        line("At its deepest point it measures {depth} metres.", "It is up to {depth} metres deep."),
    ),
    "river": (
        line("{self} is a river that rises on {source} and flows into {mouth}.",
             "{self} has its source on {source} and empties into {mouth}."),
        line("It is {length} kilometres long.", "Its course measures {length} kilometres."),
    ),
    "person": (
        line("{alias} ({birth_date} – {death_date}), usually known as {name}, was {a_occupation}.",
             "{name} ({birth_date} – {death_date}), in full {alias}, was {a_occupation}."),
        line("{alias} (born {birth_date}), usually known as {name}, is {a_occupation}.",
             "{name} (born {birth_date}), in full {alias}, is {a_occupation}.", unless="death_date"),
        line("{they} was born in {born_in} as a child of {father} and {mother}.",
             "{their} parents were {father} and {mother}, and {they} was born in {born_in}."),
        line("{they} was born in {born_in} and grew up there.", "{name} was born in {born_in}.", unless="father"),
        line("{they} studied at {alma_mater}.", "{their} university was {alma_mater}."),
        line("{their} teacher was {teacher}.", "{they} was taught by {teacher}."),
        line("For many years {they} worked for {employer}.", "{they} was employed by {employer}."),
        line("{they} married {spouse}.", "{they} was married to {spouse}."),
        line("{they} received {award}.", "{their} work was honoured with {award}."),
        line("{they} died in {died_in}.", "{name} died in {died_in}."),
    ),
    "university": (
        line("{self}, also called {alias}, is a university based in {based_in}."),
        line("{self} is a university in {based_in}.", unless="alias"),
        line("It was founded in {founded} by {founder}.", "{founder} founded it in {founded}."),
    ),
    "company": (
        line("{name} is {a_sort} based in {based_in}.", "{name} is {a_sort} with its headquarters in {based_in}."),
        line("It was founded in {founded} by {founder}.", "{founder} founded it in {founded}."),
        line("It is owned by {parent}.", "Its parent company is {parent}."),
    ),
    "award": (
        line("{self} is an award that was first given in {first_awarded}.",
             "{self} is an award that has been given since {first_awarded}."),
        line("It is named after {named_after}.", "Its name honours {named_after}."),
        line("The prize money is paid by {endowed_by}.", "{endowed_by} pays for it."),
    ),
    "novel": (
        line("{name} is a novel by {author}, published in {published}.",
             "{name} is a novel that {author} wrote and that appeared in {published}."),
        line("It was published by {publisher}.", "Its publisher was {publisher}."),
        line("The story is set in {set_in}.", "The novel is set in {set_in}."),
    ),
    "film": (
        line("{name} is a film directed by {director} and released in {released}.",
             "{name} is a film of {released} that was directed by {director}."),
        line("It is based on the novel {based_on}.", "The script adapts the novel {based_on}."),
        line("The leading role is played by {star}.", "{star} stars in it."),
        line("It was produced by {studio}.", "The film was made for {studio}."),
    ),
    "opera": (
        line("{name} is an opera by {composer}.", "{name} is an opera composed by {composer}."),
        line("It was first performed in {premiered_in} in {premiered}.",
             "Its premiere took place in {premiered} in {premiered_in}."),
        line("The score is dedicated to {dedicatee}.", "The composer dedicated it to {dedicatee}."),
    ),
    "painting": (
        line("{name} is a painting made by {painter} in {painted}.", "{name} is a painting of {painted} by {painter}."),
        line("It shows {depicts}.", "The picture depicts {depicts}."),
        line("It hangs in {shown_in}.", "Today it can be seen in {shown_in}."),
    ),
    "building": (
        line("{self} is {a_sort} in {stands_in}.", "{self} is {a_sort} that stands in {stands_in}."),
        line("It was designed by {architect} and opened in {opened}.",
             "{architect} was its architect, and it opened in {opened}."),
        line("It is named after {named_after}.", "Its name honours {named_after}."),
    ),
    "battle": (
        line("{self} was fought at {held_in} in {held}.", "{self} took place in {held} at {held_in}."),
        line("It was won by {victor}.", "The victor was {victor}."),
    ),
    "congress": (
        line("{self} was a meeting of scholars held in {held_in} in {held}.",
             "{self} took place in {held_in} in {held} and brought scholars together."),
        line("It was chaired by {chair}.", "{chair} was in the chair."),
    ),
    "species": (
        line("{self} is a species native to {native_to}.", "{self} is a species that lives only in {native_to}."),
        line("It was first described by {described_by} in {described}.",
             "The first description, by {described_by}, appeared in {described}."),
    ),
}  # fmt: skip

COLOUR = {
    "country": (
        "{craft} and timber are its main exports.",
        "Most of its people live in the lowlands, where the summers are long and dry.",
        "The national holiday falls in {season} and ends with a {feast}.",
        "Its folk songs were collected by {some_person}.",
        "The flag has a {colour} field with {number} stars.",
        "Trade with {some_country} has grown steadily for decades.",
    ),
    "region": (
        "The landscape is hilly, and {sport} is popular in {season}.",
        "Farms here produce {craft} and grain.",
        "A travel book by {some_person} made the region known abroad.",
        "{number} nature reserves protect {animal} and rare plants.",
        "Many houses are built of {colour} {stone}.",
        "The local dialect was studied by {some_person} in a well-known dictionary.",
    ),
    "town": (
        "It is known for its {craft}.",
        "Every {season} it holds a {feast} that draws visitors from far away.",
        "A street in the old quarter is named after {some_person}.",
        "The market square is paved with {stone}.",
        "A fire destroyed {number} of its oldest streets, which were later rebuilt in {colour} {stone}.",
        "Its twin town is {some_town}.",
        "A small museum of {thing} occupies the former railway station.",
        "A stage version of {some_novel} is performed here every {season}.",
    ),
    "mountain": (
        "Its slopes are covered with larch and are home to {animal}.",
        "The upper part consists of {colour} {stone}.",
        "A hut with {number} beds stands below the summit.",
        "The view from the top was praised by {some_person}.",
        "It is popular for {sport} in {season}.",
        "A cable car was planned by {some_company} but never built.",
        "On clear days one can see as far as {some_town}.",
    ),
    "lake": (
        "Its water has a {colour} shade in {season}.",
        "A ferry has crossed it for more than a century.",
        "It is home to {animal} and popular for {sport}.",
        "{number} small islands can be reached by boat.",
        "A poem by {some_person} describes a storm on the lake.",
        "The shore consists of {stone}.",
        "A boat that serves it is named after {some_person}.",
    ),
    "river": (
        "{number} old mills stand on its banks.",
        "It is known for {animal} and for {sport}.",
        "In {season} it often floods the meadows.",
        "A bridge across its upper course was planned by {some_person}.",
        "Its bed consists of {colour} {stone}.",
        "Timber was once floated down the river as far as {some_town}.",
        "Its water drives a small power station that belongs to {some_company}.",
    ),
    "person": (
        "Friends described {them} as {mood} and fond of long walks.",
        "{they} collected {thing}.",
        "{they} was known for a love of {hobby}.",
        "A portrait of {them} hangs in the town hall of {some_town}.",
        "{their} letters to {some_person} have survived.",
        "{they} once declined an invitation to {some_town}.",
        "{they} spoke {number} languages.",
        "{they} admired {some_opera} and wrote an essay about it.",
        "A café in {some_town} is called after {them}.",
    ),
    "university": (
        "It has {number} faculties and a botanical garden.",
        "Its library owns a collection of {thing}.",
        "The main building is made of {colour} {stone}.",
        "Its rowing team is a rival of that of {some_university}.",
        "A lecture by {some_person} is remembered every {season}.",
        "Students celebrate the start of the year with a {feast}.",
        "The great hall was restored with money from {some_company}.",
    ),
    "company": (
        "It survived {number} strikes and a fire.",
        "A former director, {some_person}, wrote its history.",
        "Its emblem shows {animal} on a {colour} ground.",
        "Every {season} it pays for a {feast}.",
        "It long competed with {some_company}.",
        "Its archive holds {thing} and business letters.",
        "It gave money for the restoration of {some_building}.",
    ),
    "award": (
        "It is handed over in {season} at a ceremony with music.",
        "The winner receives a medal made of {colour} metal and a book on {hobby}.",
        "The jury has {number} members.",
        "In one year the jury, led by {some_person}, could not agree on a winner.",
        "The ceremony has been held in {some_town} several times.",
        "A rival prize was set up by {some_company} but soon forgotten.",
        "Speeches are limited to {number} minutes.",
    ),
    "novel": (
        "It tells of {figure} and {theme}.",
        "Critics praised the language and found the ending too long.",
        "{number} translations have appeared.",
        "The first chapter describes a {feast}.",
        "{some_person} called it a book for long evenings in {season}.",
        "It is often compared with {some_novel}.",
        "The manuscript was lost on a train to {some_town} and written a second time.",
    ),
    "film": (
        "It follows {figure} through {theme}.",
        "Some scenes were shot in {some_town}.",
        "It ran for {number} weeks in the larger cinemas.",
        "Critics admired the {colour} light of the outdoor scenes.",
        "{some_person} was first offered the leading role but refused.",
        "It is often shown together with {some_film}.",
        "A scene with {animal} was cut before it opened.",
    ),
    "opera": (
        "It tells of {figure} and {theme}.",
        "The overture is often played in concerts.",
        "It has {number} acts and calls for a large choir.",
        "{some_person} disliked it and said so in public.",
        "A production in {some_town} used {colour} costumes only.",
        "The best-known aria comes from a scene at a {feast}.",
        "Parts of the music return in {some_opera}.",
    ),
    "painting": (
        "The foreground shows {figure}.",
        "The sky is painted in {colour} tones.",
        "A copy belonged to {some_person}.",
        "It was damaged in a fire and restored over {number} years.",
        "It was once lent to an exhibition in {some_town}.",
        "Experts see the influence of {some_painting}.",
        "The frame is decorated with {animal}.",
    ),
    "building": (
        "It is built of {colour} {stone}.",
        "The construction took {number} years.",
        "{some_person} protested against the plans.",
        "It was closed for repairs after a storm in {season}.",
        "A similar building stands in {some_town}.",
        "At night it is lit in {colour} light.",
        "A festival performance of {some_opera} took place in front of it.",
    ),
    "battle": (
        "It lasted {number} hours and was decided by the weather.",
        "A monument of {stone} marks the field.",
        "A song about it was popular for generations.",
        "{some_person} later wrote an account of it.",
        "The defeated army withdrew towards {some_town}.",
        "It began at dawn in {season} after a night of rain.",
        "A scene of {some_opera} was inspired by it.",
    ),
    "congress": (
        "Its debates filled {number} volumes.",
        "The guests were shown a collection of {thing}.",
        "{some_person} was invited but did not come.",
        "A visit to {some_town} was part of the programme.",
        "It ended with a {feast}.",
        "A quarrel about the minutes delayed the closing session.",
        "{some_university} sent the largest delegation.",
    ),
    "species": (
        "It feeds on {food} and is most active in {season}.",
        "Its colour is {colour} with pale spots.",
        "It is rarely found above {number} hundred metres.",
        "A drawing of it by {some_person} appears on a banknote.",
        "It has been introduced in the gardens of {some_town} without success.",
        "Farmers once took it for a sign of rain.",
        "{some_university} keeps it as its emblem.",
    ),
}  # fmt: skip
