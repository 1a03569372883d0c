"""Makes SQLite files in Core Data's layout from the descriptions beside it. README.md says how.

usage: make.py list             names of the descriptions
       make.py all FOLDER       every store
       make.py one NAME FOLDER  one store
       make.py check            makes every store in a temporary folder and examines it
"""
import json, os, sys, tempfile

from checking import examine
from storing import Store

PLACE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "descriptions")


def names():
    return sorted(name[:-5] for name in os.listdir(PLACE) if name.endswith(".json"))


def make(name, folder):
    with open(os.path.join(PLACE, f"{name}.json"), encoding="utf-8") as file:
        store = Store(name, json.load(file))
    store.make(folder)
    return store


def check():
    """Whether SQLite finds each file sound, and a reader finds in it what is expected."""
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        for name in names():
            faults += [f"{name}: {fault}" for fault in examine(make(name, folder), folder)]
    print("\n".join(faults) if faults else f"{len(names())} stores are as expected")
    return not faults


def main(arguments):
    if arguments == ["list"]:
        print("\n".join(names()))
    elif arguments[:1] == ["all"] and len(arguments) == 2:
        for name in names():
            make(name, arguments[1])
    elif arguments[:1] == ["one"] and len(arguments) == 3:
        make(arguments[1], arguments[2])
    elif arguments == ["check"]:
        return check()
    else:
        print(__doc__)
        return False
    return True


if __name__ == "__main__":
    sys.exit(0 if main(sys.argv[1:]) else 1)
