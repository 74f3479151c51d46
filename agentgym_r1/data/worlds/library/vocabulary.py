"""The words of the library world: what is studied, how, by whom and where it is published.

A line is one concept in several wordings that mean the same: the first is the plain one, the others share no word with
it. Papers and queries choose their wordings independently.
"""

from dataclasses import dataclass

from agentgym_r1.data.worlds.seeded import words


@dataclass(frozen=True, slots=True)
class Concept:
    """One thing in its wordings, all of the same meaning."""

    forms: tuple[str, ...]

    @property
    def name(self) -> str:
        """The plain wording."""
        return self.forms[0]


def _concepts(text: str) -> tuple[Concept, ...]:
    lines = filter(None, map(str.strip, text.splitlines()))
    return tuple(Concept(tuple(form.strip() for form in line.split("|"))) for line in lines)


PROCESSES = _concepts("""
    erosion | wearing away | gradual loss of material
    corrosion | rusting | chemical attack on metal
    migration | seasonal movement | long-distance relocation
    pollination | flower visiting | pollen transfer
    freezing | ice formation | solidification in the cold
    drying | moisture loss | dehydration
    overheating | excess temperature | thermal runaway
    contamination | pollution | unwanted residues
    cracking | fracture growth | opening of fissures
    flooding | inundation | high water events
    germination | sprouting | emergence of seedlings
    sleep disturbance | restless nights | broken rest
    noise exposure | loud surroundings | acoustic stress
    colour fading | bleaching | loss of pigment
    wear | abrasion | surface damage by rubbing
    vibration | oscillation | shaking
    fermentation | microbial souring | culture-driven ripening
    infestation | pest outbreaks | insect attack
    congestion | crowding | queueing
    misclassification | labelling errors | wrong category assignment
    memory decline | forgetting | fading recall
    leakage | seepage | unintended outflow
    regrowth | recovery after cutting | resprouting
    settlement | sinking ground | subsidence
    glare | dazzling light | excessive brightness
    price swings | volatility | market fluctuation
    nesting | brood rearing | egg laying
    sediment transport | silt carrying | movement of particles by currents
    shading | reduced sunlight | canopy cover
    fatigue | tiredness | exhaustion
""")

OBJECTS = _concepts("""
    sandstone cliffs | quartz bluffs | coastal rock faces
    alpine lakes | mountain tarns | high-altitude waters
    steel bridges | iron viaducts | metal river crossings
    honey bees | apiary colonies | hive insects
    tramway tracks | light rail lines | streetcar permanent way
    wind turbines | rotor parks | aerogenerators
    rye fields | winter cereal plots | bread-grain acreage
    night shift nurses | hospital staff after dark | nocturnal ward personnel
    oil paintings | canvases | gallery artworks
    lithium cells | rechargeable batteries | storage packs
    salt marshes | tidal wetlands | halophyte meadows
    school libraries | pupils' reading rooms | classroom book collections
    apple orchards | pome fruit groves | cider plantations
    glass fibres | optical strands | light guides
    canal locks | inland navigation chambers | barge lifts
    bamboo scaffolds | cane staging | culm frameworks
    violin strings | fiddle cords | bowed instrument gut
    cheese cellars | dairy ripening vaults | curd storerooms
    street lamps | public lighting | lanterns along roads
    bus timetables | coach schedules | public transport departures
    coral nurseries | reef gardens | polyp hatcheries
    peat bogs | mires | turf moors
    clay roof tiles | ceramic shingles | earthenware roofing
    beech forests | Fagus woodland | deciduous hill stands
    goose flocks | waterfowl gatherings | Anser groups
    concrete dams | reservoir walls | barrage structures
    tea terraces | Camellia slopes | hillside leaf gardens
    handwritten ledgers | manuscript account books | bookkeeping archives
    greenhouse tomatoes | glasshouse Solanum crops | indoor salad fruit
    ferry terminals | passenger piers | boat landings
    wool carpets | knotted rugs | pile floor coverings
    bell towers | campaniles | carillon steeples
    desalination membranes | brine filters | reverse osmosis sheets
    refugee camps | displaced persons' settlements | emergency shelters
    market stalls | vendors' booths | open-air trading stands
    grain elevators | cereal silos | bulk kernel stores
    choir singers | vocal ensembles | chorus members
    ski slopes | winter sport pistes | downhill runs
    quarry lakes | flooded pits | abandoned excavation pools
    rooftop gardens | green roofs | planted house tops
    fishing nets | trawl gear | seine meshes
    brick kilns | firing ovens | masonry furnaces
    moth populations | nocturnal Lepidoptera | lamp-attracted flyers
    radio telescopes | dish antennas | interferometer arrays
    emergency call centres | dispatch rooms | alarm hotlines
    cave paintings | parietal drawings | grotto images
    bicycle lanes | cycleways | paths for riders
    oyster beds | bivalve banks | shellfish grounds
""")

METHODS = _concepts("""
    field surveys | on-site inspection | walking transects
    laboratory trials | bench experiments | tests under controlled conditions
    satellite images | remote sensing | pictures from orbit
    interviews | conversations with practitioners | spoken questionnaires
    computer simulation | numerical modelling | in silico runs
    time series analysis | longitudinal statistics | trend decomposition
    tracer dyes | fluorescent markers | stained water
    acoustic recorders | unattended microphones | sound logging
    neural networks | deep learning | multilayer perceptrons
    regression trees | recursive partitioning | decision splits
    isotope ratios | mass spectrometry | elemental fingerprints
    laser scanning | lidar | point clouds
    archival records | historical documents | old registers
    randomised trials | controlled allocation | lottery assignment
    diary studies | self-reports | daily logs
    thermal cameras | infrared imaging | heat pictures
    strain gauges | deformation sensors | extensometers
    drone flights | unmanned aircraft | aerial robots
    DNA barcoding | genetic identification | sequence tags
    expert panels | Delphi rounds | structured judgement
    cost accounting | economic evaluation | balance of expenses
    X-ray tomography | computed radiography | volumetric scans
    Bayesian inference | posterior estimation | probabilistic updating
    participatory mapping | community cartography | residents' sketches
""")

VENUES = words("Annals Bulletin Proceedings Letters Transactions Reports Quarterly Review")
FIELDS = words("Landscape Materials Habitat Transport Heritage Climate Craft Welfare")
FIRST_NAMES = words("""
    Ada Bruno Carla Dov Elin Farid Greta Hugo Ines Jonas Kamal Lena Marek Noor Otto Petra Quim Rosa Sven Tala Ugo Vera
    Wim Xenia Yara Zeno Amir Birgit Cato Dina
""")
LAST_NAMES = words("""
    Abelmann Aldric Amsel Ardley Baltrus Banovic Barkhoff Belmonte Bergsma Birnholz Brandvik Brezova Calloway Castelo
    Cervenka Clavering Corvo Dalgaard Darnell Delacroy Dornbusch Drewitz Eberlin Edgren Elsworth Erdmann Fabritz
    Falkner Fenwickson Ferrand Fiorelli Fossum Galloway Garnier Gerlitz Gorski Grelle Haakon Halvard Harkness Hessling
    Holmquist Ibarra Ilves Iversholt Jannings Jarosz Jelinek Kallas Karlström Kestrel Kirchner Kovalik Kremer Lagerlund
    Lanvers Lindqvist Loewen Lundvall Maarten Maldini Marchetti Melnyk Mirabeau Montfort Nadler Navarin Nielsund
    Nordahl Oakhurst Obradov Olsavsky Orlenko Osterlund Paasonen Palander Pellegrin Petrescu Pinheiro Quastel Quintana
    Radoslav Rasmus Renwick Ribeiro Rosendal Ruskin Saarinen Salvatore Schönbeck Selwyn Sorokin Stavros Strand Tamsin
    Tennholt Thorvald Tolstrup Urbanek Ustinova Valdemar Vandenberg Verhoeven Vinter Vogelsang Wachter Wendell
    Westerling Wolanski Xanthos Yardley Ylvisaker Zanetti Zeller Zimmerlin
""")
