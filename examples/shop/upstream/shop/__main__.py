"""``python -m shop [--format text|xml]``: charge one order and print its receipt."""

import argparse

from shop import Order
from shop.checkout import charge
from shop.receipts import FORMATS


def main():
    parser = argparse.ArgumentParser(prog="shop")
    parser.add_argument("--format", default="text", choices=sorted(FORMATS))
    arguments = parser.parse_args()
    order = Order("A-1", [("tea", 2, 450), ("cup", 1, 1200)])
    print(FORMATS[arguments.format](order, charge(order)))


if __name__ == "__main__":
    main()
