"""The scratch copy of the package: its sources with all mutants, one build of it, and runs of its tests."""

import itertools
import os
import random
import re
import shutil
import signal
import subprocess
import threading
import time

from mutants import SWITCHES, Finder

MANIFEST = """
// Only what the mutated module and its tests need. A mutated copy has warnings.
package.targets.removeAll {{ ![{targets}].contains($0.name) }}
package.products = []
"""


class Scratch:
    def __init__(self, package, folder, area):
        self.package, self.folder, self.area = package, folder, area
        self.mutants = []

    # The sources.

    def copy(self):
        os.makedirs(self.folder, exist_ok=True)
        for name in ("Sources", "Tests"):
            self._mirror(os.path.join(self.package, name), os.path.join(self.folder, name))
        # Tests hold the documents' examples against the code.
        for name in os.listdir(self.package):
            if name.endswith(".md"):
                shutil.copyfile(os.path.join(self.package, name), os.path.join(self.folder, name))
        with open(os.path.join(self.package, "Package.swift")) as file:
            text = file.read().replace("    .treatAllWarnings(as: .error),\n", "")
        names = ", ".join(f'"{name}"' for name in self.area.targets)
        self._write("Package.swift", text + MANIFEST.format(targets=names))

    def _mirror(self, source, target):
        """Copies what differs, so that a second build compiles only that."""
        for folder, _, names in os.walk(source):
            inside = os.path.join(target, os.path.relpath(folder, source))
            os.makedirs(inside, exist_ok=True)
            # The mutated files are written once, with their mutants: a build without changes is then quick.
            if any(inside.endswith(f"/Sources/{name}") or f"/Sources/{name}/" in inside for name in self.area.folders):
                continue
            for name in set(os.listdir(inside)) - set(names) - {"Mutant.swift"}:
                if os.path.isfile(os.path.join(inside, name)):
                    os.remove(os.path.join(inside, name))
            for name in names:
                with open(os.path.join(folder, name), "rb") as file:
                    data = file.read()
                place = os.path.join(inside, name)
                if not os.path.exists(place) or open(place, "rb").read() != data:
                    with open(place, "wb") as file:
                        file.write(data)
                    shutil.copymode(os.path.join(folder, name), place)

    def _write(self, name, text):
        path = os.path.join(self.folder, name)
        if not os.path.exists(path) or open(path).read() != text:
            with open(path, "w") as file:
                file.write(text)

    def choose(self, count, seed):
        """Chooses mutants by the seed, from each folder in proportion to its candidates; at most one a line."""
        generator, refused = random.Random(seed), self._refused()
        by_folder = {folder: self._candidates(folder) for folder in self.area.folders}
        for found in by_folder.values():
            generator.shuffle(found)
        total = sum(len(found) for found in by_folder.values())
        self.mutants, self._spare, taken = [], {}, set()
        for folder, found in by_folder.items():
            unique = []
            for mutant in found:
                if (mutant.file, mutant.line) not in taken and "\t".join((mutant.file, mutant.text)) not in refused:
                    taken.add((mutant.file, mutant.line))
                    unique.append(mutant)
            share = round(count * len(found) / total)
            self.mutants += unique[:share]
            self._spare[folder] = unique[share:]

    def take(self, rows):
        """Takes the mutants that rows of a table name by their source text. Returns the rows whose source is not there any more."""
        by_name = {}
        for folder in self.area.folders:
            for mutant in self._candidates(folder):
                by_name.setdefault((mutant.file, mutant.function, mutant.kind, mutant.before, mutant.change), []).append(mutant)
        self.mutants, self._spare, taken, gone = [], {folder: [] for folder in self.area.folders}, set(), []
        for row in rows:
            free = [mutant for mutant in by_name.get(tuple(row[:5]), []) if (mutant.file, mutant.line) not in taken]
            if free:
                taken.add((free[0].file, free[0].line))
                self.mutants.append(free[0])
            else:
                gone.append(row)
        return gone

    def _candidates(self, folder):
        found = []
        for inside, _, names in sorted(os.walk(os.path.join(self.package, "Sources", folder))):
            for name in sorted(name for name in names if name.endswith(".swift")):
                path = os.path.relpath(os.path.join(inside, name), self.package)
                with open(os.path.join(self.package, path)) as file:
                    found += Finder(path, file.read()).found
        return found

    def _refused(self):
        """What the compiler refused in earlier builds of this copy."""
        path = os.path.join(self.folder, "refused")
        return set(open(path).read().split("\n")) if os.path.exists(path) else set()

    def _write_sources(self):
        by_file = {}
        for number, mutant in enumerate(self.mutants):
            if mutant:
                by_file.setdefault(mutant.file, []).append((number, mutant))
        for folder in self.area.folders:
            for inside, _, names in os.walk(os.path.join(self.package, "Sources", folder)):
                for name in names:
                    path = os.path.relpath(os.path.join(inside, name), self.package)
                    with open(os.path.join(self.package, path)) as file:
                        lines = file.read().split("\n")
                    for number, mutant in by_file.get(path, []):
                        lines[mutant.line] = mutant.text.replace("isActive(#)", f"isActive({number})")
                    self._write(path, "\n".join(lines))
        self._write(f"Sources/{self.area.module}/Mutant.swift", SWITCHES)

    # The build.

    def build(self, log):
        """Builds until no mutant keeps the compiler from it; one that does is replaced by another of its folder."""
        command = [
            "swift", "build", "--build-tests", "-debug-info-format", "none",
            "--package-path", self.folder, "--scratch-path", self.folder + "/.build",
            "-Xswiftc", "-continue-building-after-errors", "-Xswiftc", "-suppress-warnings"]
        while True:
            self._write_sources()
            run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if run.returncode == 0:
                return
            dropped = set()
            for path, line in re.findall(r"^(\S+\.swift):(\d+):\d+: error:", run.stdout, re.MULTILINE):
                path = os.path.relpath(path, self.folder)
                near = [
                    (abs(mutant.line - int(line) + 1), number) for number, mutant in enumerate(self.mutants)
                    if mutant and mutant.file == path]
                if near:
                    dropped.add(min(near)[1])
            if not dropped:
                raise SystemExit("The scratch copy does not build:\n" + run.stdout[-4000:])
            log(f"{len(dropped)} mutants do not compile and are replaced")
            for number in dropped:
                mutant = self.mutants[number]
                with open(os.path.join(self.folder, "refused"), "a") as file:
                    file.write("\t".join((mutant.file, mutant.text)) + "\n")
                folder = next(folder for folder in self.area.folders if mutant.file.startswith(f"Sources/{folder}/"))
                self.mutants[number] = self._spare[folder].pop(0) if self._spare[folder] else None

    # The tests.

    def _command(self, suites=None):
        command = [
            os.path.join(self.folder, ".build/debug/heartwoodPackageTests.xctest"), "--testing-library", "swift-testing"]
        if suites is None:
            return command + ["--list-tests"]
        for suite in suites:
            command += ["--filter", f"^{self.area.tests}\\.{re.escape(suite)}[/(]"]
        return command

    def suites(self):
        output = subprocess.run(self._command(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
        found = re.findall(rf"^{self.area.tests}\.([^/(\s]+)[/(]", output, re.MULTILINE)
        return [suite for suite in sorted(set(found)) if not self.area.left_out or not re.search(self.area.left_out, suite)]

    def run(self, suites, mutant, limit, reached=None):
        """Runs the suites until the first failure. Returns what failed, or None, and the seconds it took."""
        environment = dict(os.environ, HEARTWOOD_MUTANT=str(mutant), SWIFT_BACKTRACE="enable=no")
        if reached:
            with open(reached, "wb") as file:
                file.write(bytes(65536))
            environment["HEARTWOOD_MUTANTS_REACHED"] = reached
        begun, failure, last = time.monotonic(), None, ""
        process = subprocess.Popen(
            self._command(suites), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", env=environment,
            cwd=self.folder, start_new_session=True)
        late = threading.Event()
        timer = threading.Timer(limit, lambda: (late.set(), self._end(process)))
        timer.start()
        for line in process.stdout:
            line = re.sub(r"\x1b\[[0-9;]*m", "", line).strip()
            last = line or last
            match = re.search(r"[✘✗] (?:Test|Suite) (.+?) (recorded an issue|failed after)", line)
            if match and not match.group(1).startswith("run with"):
                failure = match.group(1).strip('"')
                if reached:
                    # Without a mutant nothing may fail: the lines say where it did, and from which seed.
                    failure = " ".join([line] + [more.strip() for more in itertools.islice(process.stdout, 3)])
                break
        self._end(process)
        code = process.wait()
        timer.cancel()
        process.stdout.close()
        if failure is None and late.is_set():
            failure = "time limit"
        elif failure is None and code not in (0, -signal.SIGKILL):
            failure = f"crash (signal {-code})" if code < 0 else f"exit {code}"
        elif failure is None and not re.search(r"Test run with \d+ tests? .*passed", last):
            failure = f"crash ({last[:80]})"
        return failure, time.monotonic() - begun

    @staticmethod
    def _end(process):
        """Ends the run and the processes that it started."""
        if process.poll() is None:
            try:
                process.wait(timeout=0 if process.stdout.closed else 0.2)
                return
            except subprocess.TimeoutExpired:
                pass
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def reach(self, suite, log):
        """Runs a suite without a mutant. Returns its seconds and the mutants that it reaches, or None if it fails."""
        file = os.path.join(self.folder, f"reached-{suite}")
        failure, seconds = self.run([suite], -1, 300, file)
        if failure:
            log(f"{suite} fails without a mutant and is left out: {failure}")
            return None
        with open(file, "rb") as reached:
            return seconds, {number for number, byte in enumerate(reached.read()) if byte}
