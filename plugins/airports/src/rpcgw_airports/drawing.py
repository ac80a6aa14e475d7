"""A map as PNG: an equirectangular projection, a dot for each point. Written by hand: it is four chunks."""

import struct
import zlib
from collections.abc import Iterable

Point = tuple[float, float]

SEA, GRID, DOT, MARK = range(4)
PALETTE = bytes((16, 24, 40, 38, 50, 74, 122, 162, 247, 255, 158, 100))
"""Red, green and blue of each colour."""


def draw(points: Iterable[Point], marked: Iterable[Point], width: int) -> bytes:
    """The whole world as a PNG, `width` pixels wide and half as high, north up; marked points stand out."""
    height = width // 2
    pixels = [bytearray(width) for _ in range(height)]
    for step in range(1, 12):
        column = step * width // 12
        for line in pixels:
            line[column] = GRID
    for step in range(1, 6):
        pixels[step * height // 6] = bytearray([GRID]) * width
    for point in points:
        column, row = _pixel(point, width, height)
        pixels[row][column] = DOT
    for point in marked:
        _square(pixels, *_pixel(point, width, height), max(2, width // 240))
    return png(pixels)


def png(pixels: list[bytearray]) -> bytes:
    """An indexed PNG of these lines of colour numbers (PNG specification, 11.2)."""
    header = struct.pack(">IIBBBBB", len(pixels[0]), len(pixels), 8, 3, 0, 0, 0)
    body = zlib.compress(b"".join(b"\0" + line for line in pixels), 6)
    chunks = ((b"IHDR", header), (b"PLTE", PALETTE), (b"IDAT", body), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def _pixel(point: Point, width: int, height: int) -> tuple[int, int]:
    latitude, longitude = point
    column = int((longitude + 180) / 360 * width)
    row = int((90 - latitude) / 180 * height)
    return min(max(column, 0), width - 1), min(max(row, 0), height - 1)


def _square(pixels: list[bytearray], column: int, row: int, radius: int) -> None:
    left, right = max(column - radius, 0), min(column + radius + 1, len(pixels[0]))
    for line in pixels[max(row - radius, 0) : row + radius + 1]:
        line[left:right] = bytes([MARK]) * (right - left)
