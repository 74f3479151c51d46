"""How relations are worded in questions: noun phrases, questions, and clauses, forwards and backwards."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Words:
    """The words of a relation; ``{}`` stands for its subject.

    Attributes:
        of: noun phrases for the object, for example "the author of {}".
        ask: questions for the object.
        lead: a clause about the subject that ends in a relative pronoun for the object, for example
            "{} was written by a person who"; empty where the object is plain text.
        which: the relation as a predicate that asks for the object, for example "was born in which town?".
    """

    of: tuple[str, ...]
    ask: tuple[str, ...]
    which: str
    lead: str = ""


@dataclass(frozen=True, slots=True)
class Backward:
    """The words of a relation read backwards, where the object has just one subject; ``{}`` stands for the object."""

    of: str
    ask: tuple[str, ...]
    which: str


FORWARD = {
    "language": Words(
        ("the official language of {}",),
        ("What is the official language of {}?", "Which language is official in {}?"),
        "has which official language?",
    ),
    "currency": Words(
        ("the currency of {}",),
        ("What is the currency of {}?", "Which currency is used in {}?"),
        "uses which currency?",
    ),
    "constitution": Words(
        ("the year of the constitution of {}",),
        ("In what year did {} adopt its constitution?",),
        "adopted its constitution in what year?",
    ),
    "capital": Words(
        ("the capital of {}",),
        ("What is the capital of {}?", "Which town is the capital of {}?"),
        "has which town as its capital?",
        "{} has a capital that",
    ),
    "country": Words(
        ("the country to which {} belongs", "the country of {}"),
        ("To which country does {} belong?", "In which country does {} lie?"),
        "belongs to which country?",
        "{} belongs to a country that",
    ),
    "seat": Words(
        ("the seat of {}", "the administrative seat of {}"),
        ("Which town is the seat of {}?", "What is the administrative seat of {}?"),
        "has its seat in which town?",
        "{} has its seat in a town that",
    ),
    "region": Words(
        ("the region in which {} lies", "the region of {}"),
        ("In which region does {} lie?", "In which region is {} located?"),
        "lies in which region?",
        "{} lies in a region that",
    ),
    "height": Words(("the height of {}",), ("How many metres high is {}?",), "is how many metres high?"),
    "depth": Words(("the depth of {}",), ("How many metres deep is {}?",), "is how many metres deep?"),
    "length": Words(("the length of {}",), ("How many kilometres long is {}?",), "is how many kilometres long?"),
    "population": Words(
        ("the population of {}",),
        ("How many inhabitants does {} have?", "What is the population of {}?"),
        "has how many inhabitants?",
    ),
    "founded": Words(
        ("the year in which {} was founded",),
        ("In what year was {} founded?", "When was {} founded?"),
        "was founded in what year?",
    ),
    "first_climber": Words(
        ("the first person to climb {}", "the first climber of {}"),
        ("Who was the first to climb {}?", "Who made the first ascent of {}?"),
        "was first climbed by whom?",
        "{} was first climbed by a person who",
    ),
    "climbed": Words(
        ("the year of the first ascent of {}",),
        ("In what year was {} first climbed?",),
        "was first climbed in what year?",
    ),
    "river": Words(
        ("the river on which {} lies", "the river that flows through {}"),
        ("On which river does {} lie?", "Which river flows through {}?"),
        "lies on which river?",
        "{} lies on a river that",
    ),
    "source": Words(
        ("the mountain on which {} rises", "the mountain where {} has its source"),
        ("On which mountain does {} rise?", "Which mountain is the source of {}?"),
        "rises on which mountain?",
        "{} rises on a mountain that",
    ),
    "mouth": Words(
        ("the lake into which {} flows", "the lake that {} empties into"),
        ("Into which lake does {} flow?", "Which lake does {} empty into?"),
        "flows into which lake?",
        "{} flows into a lake that",
    ),
    "birth_date": Words(("the date of birth of {}",), ("When was {} born?",), "was born on what date?"),
    "death_date": Words(("the date of death of {}",), ("When did {} die?",), "died on what date?"),
    "born_in": Words(
        ("the birthplace of {}", "the town where {} was born"),
        ("Where was {} born?", "In which town was {} born?", "What is the place of birth of {}?"),
        "was born in which town?",
        "{} was born in a town that",
    ),
    "died_in": Words(
        ("the town where {} died", "the place of death of {}"),
        ("Where did {} die?", "In which town did {} die?", "What is the place of death of {}?"),
        "died in which town?",
        "{} died in a town that",
    ),
    "spouse": Words(
        ("the spouse of {}", "the person {} married"),
        ("Who was {} married to?", "Who was the spouse of {}?"),
        "was married to whom?",
        "{} was married to a person who",
    ),
    "father": Words(
        ("the father of {}",),
        ("Who was the father of {}?", "Who is the father of {}?"),
        "was the child of which man?",
        "{} was the child of a man who",
    ),
    "mother": Words(
        ("the mother of {}",),
        ("Who was the mother of {}?", "Who is the mother of {}?"),
        "was the child of which woman?",
        "{} was the child of a woman who",
    ),
    "alma_mater": Words(
        ("the university attended by {}", "the place of study of {}"),
        ("Where did {} study?", "At which university did {} study?"),
        "studied at which university?",
        "{} studied at a university that",
    ),
    "teacher": Words(
        ("the teacher of {}", "the person who taught {}"),
        ("Who taught {}?", "Who was the teacher of {}?"),
        "was taught by whom?",
        "{} was taught by a person who",
    ),
    "employer": Words(
        ("the employer of {}", "the organisation that employed {}"),
        ("For which organisation did {} work?", "Who employed {}?"),
        "worked for which organisation?",
        "{} worked for an organisation that",
    ),
    "award": Words(
        ("the award given to {}", "the award that {} received"),
        ("Which award did {} receive?", "What award was {} given?"),
        "received which award?",
        "{} received an award that",
    ),
    "founder": Words(
        ("the founder of {}", "the person who founded {}"),
        ("Who founded {}?", "Who was the founder of {}?"),
        "was founded by whom?",
        "{} was founded by a person who",
    ),
    "based_in": Words(
        ("the town where {} is based", "the home town of {}"),
        ("In which town is {} based?", "Where is {} based?"),
        "is based in which town?",
        "{} is based in a town that",
    ),
    "parent": Words(
        ("the owner of {}", "the parent company of {}"),
        ("Which company owns {}?", "What is the parent company of {}?"),
        "is owned by which company?",
        "{} is owned by a company that",
    ),
    "endowed_by": Words(
        ("the company that pays for {}", "the company behind {}"),
        ("Which company pays for {}?", "Which company endowed {}?"),
        "is paid for by which company?",
        "{} is paid for by a company that",
    ),
    "named_after": Words(
        ("the person after whom {} is named", "the namesake of {}"),
        ("After whom is {} named?", "Who gave {} its name?"),
        "is named after whom?",
        "{} is named after a person who",
    ),
    "first_awarded": Words(
        ("the year in which {} was first awarded",),
        ("In what year was {} first awarded?",),
        "was first awarded in what year?",
    ),
    "author": Words(
        ("the author of {}", "the person who wrote {}"),
        ("Who wrote {}?", "Who is the author of {}?"),
        "was written by whom?",
        "{} was written by a person who",
    ),
    "published": Words(
        ("the year in which {} was published",),
        ("In what year was {} published?", "When was {} published?"),
        "was published in what year?",
    ),
    "set_in": Words(
        ("the setting of {}", "the town in which {} is set"),
        ("In which town is {} set?", "Where is {} set?"),
        "is set in which town?",
        "{} is set in a town that",
    ),
    "publisher": Words(
        ("the publisher of {}", "the company that published {}"),
        ("Which company published {}?", "Who published {}?"),
        "was published by which company?",
        "{} was published by a company that",
    ),
    "director": Words(
        ("the director of {}", "the person who directed {}"),
        ("Who directed {}?", "Who is the director of {}?"),
        "was directed by whom?",
        "{} was directed by a person who",
    ),
    "released": Words(
        ("the year in which {} was released",),
        ("In what year was {} released?", "When was {} released?"),
        "was released in what year?",
    ),
    "based_on": Words(
        ("the novel on which {} is based",),
        ("On which novel is {} based?", "Which novel does {} adapt?"),
        "is based on which novel?",
        "{} is based on a novel that",
    ),
    "star": Words(
        ("the star of {}", "the person who plays the leading role in {}"),
        ("Who plays the leading role in {}?", "Who stars in {}?"),
        "has whom in the leading role?",
        "{} has in its leading role a person who",
    ),
    "studio": Words(
        ("the studio behind {}", "the studio that produced {}"),
        ("Which studio produced {}?", "Which company produced {}?"),
        "was produced by which studio?",
        "{} was produced by a studio that",
    ),
    "composer": Words(
        ("the composer of {}", "the person who composed {}"),
        ("Who composed {}?", "Who is the composer of {}?"),
        "was composed by whom?",
        "{} was composed by a person who",
    ),
    "premiered": Words(
        ("the year in which {} was first performed",),
        ("In what year was {} first performed?",),
        "was first performed in what year?",
    ),
    "premiered_in": Words(
        ("the town where {} was first performed",),
        ("Where was {} first performed?", "In which town did {} have its premiere?"),
        "was first performed in which town?",
        "{} was first performed in a town that",
    ),
    "dedicatee": Words(
        ("the person to whom {} is dedicated",),
        ("To whom is {} dedicated?",),
        "is dedicated to whom?",
        "{} is dedicated to a person who",
    ),
    "painter": Words(
        ("the painter of {}", "the person who painted {}"),
        ("Who painted {}?", "Who is the painter of {}?"),
        "was painted by whom?",
        "{} was painted by a person who",
    ),
    "painted": Words(
        ("the year in which {} was painted",),
        ("In what year was {} painted?",),
        "was painted in what year?",
    ),
    "shown_in": Words(
        ("the museum that shows {}", "the museum where {} hangs"),
        ("In which museum does {} hang?", "Which museum shows {}?"),
        "hangs in which museum?",
        "{} hangs in a museum that",
    ),
    "depicts": Words(
        ("the landscape shown in {}",),
        ("Which landscape does {} depict?",),
        "depicts which landscape?",
        "{} depicts a landscape that",
    ),
    "architect": Words(
        ("the architect of {}", "the person who designed {}"),
        ("Who designed {}?", "Who was the architect of {}?"),
        "was designed by whom?",
        "{} was designed by a person who",
    ),
    "stands_in": Words(
        ("the town where {} stands", "the location of {}"),
        ("In which town does {} stand?", "Where does {} stand?"),
        "stands in which town?",
        "{} stands in a town that",
    ),
    "opened": Words(
        ("the year in which {} was opened",),
        ("In what year was {} opened?", "When was {} opened?"),
        "was opened in what year?",
    ),
    "victor": Words(
        ("the victor of {}", "the general who won {}"),
        ("Who won {}?", "Which general won {}?"),
        "was won by which general?",
        "{} was won by a general who",
    ),
    "chair": Words(
        ("the chair of {}", "the person who chaired {}"),
        ("Who chaired {}?", "Who was the chair of {}?"),
        "was chaired by whom?",
        "{} was chaired by a person who",
    ),
    "held": Words(
        ("the year of {}",),
        ("In what year did {} take place?", "When did {} take place?"),
        "took place in what year?",
    ),
    "held_in": Words(
        ("the town where {} took place", "the site of {}"),
        ("Where did {} take place?", "In which town did {} take place?"),
        "took place in which town?",
        "{} took place in a town that",
    ),
    "described_by": Words(
        ("the person who first described {}", "the discoverer of {}"),
        ("Who first described {}?", "Who discovered {}?"),
        "was first described by whom?",
        "{} was first described by a person who",
    ),
    "described": Words(
        ("the year in which {} was first described",),
        ("In what year was {} first described?",),
        "was first described in what year?",
    ),
    "native_to": Words(
        ("the region to which {} is native", "the native region of {}"),
        ("To which region is {} native?",),
        "is native to which region?",
        "{} is native to a region that",
    ),
}

BACKWARD = {
    "author": Backward("the novel written by {}", ("Which novel did {} write?",), "wrote which novel?"),
    "director": Backward("the film directed by {}", ("Which film did {} direct?",), "directed which film?"),
    "composer": Backward("the opera composed by {}", ("Which opera did {} compose?",), "composed which opera?"),
    "painter": Backward("the painting made by {}", ("Which painting did {} make?",), "made which painting?"),
    "architect": Backward(
        "the building designed by {}", ("Which building did {} design?",), "designed which building?"
    ),
    "founder": Backward(
        "the organisation founded by {}", ("Which organisation did {} found?",), "founded which organisation?"
    ),
    "described_by": Backward(
        "the species first described by {}",
        ("Which species was first described by {}?",),
        "was the first to describe which species?",
    ),
    "first_climber": Backward(
        "the mountain first climbed by {}",
        ("Which mountain was first climbed by {}?",),
        "was the first to climb which mountain?",
    ),
    "victor": Backward("the battle won by {}", ("Which battle did {} win?",), "won which battle?"),
    "chair": Backward("the congress chaired by {}", ("Which congress did {} chair?",), "chaired which congress?"),
    "based_on": Backward("the film based on {}", ("Which film is based on {}?",), "was adapted in which film?"),
    "depicts": Backward(
        "the painting that depicts {}", ("Which painting depicts {}?",), "is depicted in which painting?"
    ),
    "endowed_by": Backward("the award paid for by {}", ("Which award does {} pay for?",), "pays for which award?"),
    "star": Backward(
        "the film that stars {}", ("Which film has {} in its leading role?",), "plays the leading role in which film?"
    ),
    "parent": Backward("the company owned by {}", ("Which company belongs to {}?",), "owns which company?"),
    "dedicatee": Backward(
        "the opera dedicated to {}", ("Which opera is dedicated to {}?",), "has which opera dedicated to them?"
    ),
}
