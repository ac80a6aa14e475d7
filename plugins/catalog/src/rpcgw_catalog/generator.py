"""Realistic products from a seed: the same seed gives the same catalogue, on any machine."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from random import Random

from rpcgw_catalog.products import Category, NewProduct


@dataclass(frozen=True, slots=True)
class Line:
    """The words that products of one category are named with, and the range of their prices in cents."""

    things: tuple[str, ...]
    kinds: tuple[str, ...]
    tags: tuple[str, ...]
    cents: tuple[int, int]


LINES = {
    Category.BOOKS: Line(
        ("Atlas", "Cookbook", "Field Guide", "Handbook", "Novel", "Dictionary", "Memoir", "Picture Book"),
        ("Illustrated", "Pocket", "Complete", "Annotated", "Little", "Big", "New"),
        ("hardcover", "paperback", "gift", "reference", "travel", "nature", "history"),
        (490, 8900),
    ),
    Category.GARDEN: Line(
        ("Watering Can", "Pruning Shears", "Wheelbarrow", "Seed Box", "Garden Hose", "Rake", "Greenhouse", "Trellis"),
        ("Galvanised", "Folding", "Long", "Light", "Sturdy", "Small", "Rustproof"),
        ("outdoor", "spring", "balcony", "steel", "organic", "tools"),
        (350, 24900),
    ),
    Category.KITCHEN: Line(
        ("Kettle", "Frying Pan", "Bread Knife", "Mixing Bowl", "Teapot", "Colander", "Coffee Grinder", "Casserole"),
        ("Cast-Iron", "Enamel", "Stainless", "Ceramic", "Copper", "Glass", "Non-Stick"),
        ("cooking", "baking", "coffee", "tea", "dishwasher", "gift"),
        (790, 18900),
    ),
    Category.MUSIC: Line(
        ("Ukulele", "Metronome", "Guitar Strings", "Music Stand", "Recorder", "Tambourine", "Keyboard", "Headphones"),
        ("Concert", "Travel", "Student", "Studio", "Classic", "Electric", "Wooden"),
        ("acoustic", "beginner", "stage", "practice", "gift"),
        (590, 89900),
    ),
    Category.TOOLS: Line(
        ("Hammer", "Cordless Drill", "Screwdriver Set", "Spirit Level", "Hand Saw", "Pliers", "Toolbox", "Torch"),
        ("Compact", "Heavy-Duty", "Insulated", "Precision", "Magnetic", "Professional", "Folding"),
        ("workshop", "steel", "battery", "electric", "home", "repair"),
        (390, 32900),
    ),
    Category.TOYS: Line(
        ("Building Blocks", "Puzzle", "Train Set", "Kite", "Doll House", "Board Game", "Marble Run", "Plush Bear"),
        ("Wooden", "Colourful", "Giant", "Mini", "Glowing", "Classic", "Magnetic"),
        ("children", "family", "outdoor", "learning", "gift", "wood"),
        (290, 15900),
    ),
}

MAKERS = (
    "Alder",
    "Borys",
    "Cobalt",
    "Dnipro",
    "Elm",
    "Fjord",
    "Granite",
    "Hazel",
    "Iris",
    "Juniper",
    "Kalyna",
    "Linden",
)


def generate(count: int, seed: int) -> Iterator[NewProduct]:
    """As many products as asked for; names repeat across makers, SKUs do not."""
    random = Random(seed)
    for number in range(1, count + 1):
        category = random.choice(list(Category))
        line = LINES[category]
        low, high = line.cents
        yield NewProduct(
            sku=f"{category.value[:3].upper()}-{number:06d}",
            name=f"{random.choice(MAKERS)} {random.choice(line.kinds)} {random.choice(line.things)}",
            category=category,
            price=Decimal(random.randrange(low, high, 10)).scaleb(-2),
            stock=random.choice((0, *range(1, 250))),
            tags=tuple(sorted(random.sample(line.tags, k=random.randint(1, 3)))),
        )
