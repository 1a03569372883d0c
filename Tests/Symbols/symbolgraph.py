"""The symbol graphs of the built modules, which `check` and `../Interface/check` read."""
import json
import pathlib
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def build_folder():
    found = subprocess.run(["swift", "build", "--show-bin-path"], cwd=ROOT, capture_output=True, text=True, check=True)
    return pathlib.Path(found.stdout.strip())


def target():
    found = subprocess.run(["swiftc", "-print-target-info"], capture_output=True, text=True, check=True)
    return json.loads(found.stdout)["target"]["triple"]


def graphs(folder, modules, *options):
    """The symbol graphs of the modules, with those of what they add to other modules."""
    with tempfile.TemporaryDirectory() as output:
        for module in modules:
            subprocess.run(
                ["swift-symbolgraph-extract", "-module-name", module, "-I", str(folder / "Modules"), "-target", target(),
                 "-minimum-access-level", "public", "-output-dir", output, *options],
                check=True, capture_output=True)
        for path in sorted(pathlib.Path(output).glob("*.symbols.json")):
            yield json.loads(path.read_text())
