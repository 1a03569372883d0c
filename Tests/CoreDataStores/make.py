"""Makes SQLite files in Core Data's layout from the descriptions beside it. README.md says how.

usage: make.py list             names of the descriptions
       make.py all FOLDER       every store
       make.py one NAME FOLDER  one store
       make.py check            makes every store in a temporary folder and examines it
       make.py goldens FOLDER   the stores of Goldens, which are not made again: a new one gets a name of its own
"""
import json, os, sys, tempfile

from checking import examine
from storing import Store

# The goldens and their page sizes.
GOLDENS = {
    "attributes-types": 4096, "composites": 512, "dangling": 512, "external": 1024, "history": 1024, "inheritance-duplicates": 2048,
    "log-beside": 512, "many-to-many-ordered": 512, "many-to-many-reflexive": 1024, "migrated-short-rows": 512, "old-without-cache": 512,
    "subentities-duplicate-to-one": 512, "subentities-ordered": 2048, "swiftdata": 1024, "to-many-without-inverse": 512,
}
PLACE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "descriptions")


def names():
    return sorted(name[:-5] for name in os.listdir(PLACE) if name.endswith(".json"))


def make(name, folder, page_size=None):
    with open(os.path.join(PLACE, f"{name}.json"), encoding="utf-8") as file:
        description = json.load(file)
    if page_size:
        description.setdefault("store", {})["pageSize"] = page_size
    store = Store(name, description)
    store.make(folder)
    return store


def check():
    """Lets SQLite examine each file, and compares the objects that a reader finds with those that are expected."""
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
    elif arguments[:1] == ["goldens"] and len(arguments) == 2:
        for name, size in GOLDENS.items():
            make(name, arguments[1], size)
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
