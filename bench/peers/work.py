"""What the Python servers under test do: a price with validated arguments, and objects."""

ITEMS = [
    {"id": n, "name": f"Product number {n}", "cents": 999 + 137 * n, "in_stock": n % 3 != 0, "tags": ["alpha", "beta"]}
    for n in range(200)
]


def reduced(cents: int, percent: int) -> int:
    """What a price becomes after a discount, rounded down to whole cents."""
    return cents * (100 - percent) // 100
