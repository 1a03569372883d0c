"""Finds the places of Swift sources that can be mutated, and writes each mutation behind a switch."""

import re
from collections import namedtuple

# A mutant changes one line. `text` is that line with the switch in it; `change` says the same for people.
Mutant = namedtuple("Mutant", "file line function kind before change text")

TURNED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
DECLARATION = re.compile(r"\b(func|init[?]?|deinit|subscript)\b|^\s*(\w+ )*var .*\{$|^\s*(get|set|didSet|willSet|defer)\b.*\{$")
NAME = re.compile(r"\b(?:func\s+([^\s(<]+)|(init|deinit|subscript)\b|var\s+(\w+))")
SWITCH = "Mutant.isActive(#)"


def masked(lines):
    """The lines with strings and comments blanked out, each as long as before."""
    result, in_text, comment = [], False, 0
    for line in lines:
        out, at, in_string = [], 0, False
        while at < len(line):
            rest = line[at:]
            if comment:
                if rest.startswith("*/"):
                    comment -= 1
                    out.append("  ")
                    at += 2
                    continue
                out.append(" ")
            elif in_text:
                if rest.startswith('"""'):
                    in_text = False
                    out.append('"__')
                    at += 3
                    continue
                out.append("_")
            elif in_string:
                if rest[0] == "\\":
                    out.append("__")
                    at += 2
                    continue
                in_string = rest[0] != '"'
                out.append("_" if in_string else '"')
            elif rest.startswith("//"):
                out.append(" " * len(rest))
                break
            elif rest.startswith("/*"):
                comment += 1
                out.append(" ")
            elif rest.startswith('"""'):
                in_text = True
                out.append('"__')
                at += 3
                continue
            elif rest[0] == '"':
                in_string = True
                out.append('"')
            else:
                out.append(rest[0])
            at += 1
        result.append("".join(out)[:len(line)].ljust(len(line)))
    return result


def depths(code):
    """How deep in brackets each character of a line lies."""
    depth, result = 0, []
    for character in code:
        if character in ")]}":
            depth -= 1
        result.append(depth)
        if character in "([{":
            depth += 1
    return result


def pieces(code, start, end, separator):
    """The parts of code[start:end] between separators outside brackets, as bounds without blanks."""
    depth, result, begun = depths(code[start:end]), [], start
    for match in re.finditer(separator, code[start:end]):
        if depth[match.start()] == 0:
            result.append((begun, start + match.start()))
            begun = start + match.end()
    result.append((begun, end))
    return [trimmed(code, bounds) for bounds in result]


def trimmed(code, bounds):
    start, end = bounds
    while start < end and code[start] == " ":
        start += 1
    while end > start and code[end - 1] == " ":
        end -= 1
    return start, end


def conditions(code):
    """The bounds of the boolean clauses of a line: of if, guard, while, return, a ternary and a Bool's body."""
    match = re.match(r"^\s*(?:.*[=}] )?(?:else )?(if|guard|while) ", code)
    if match:
        start = match.end()
        end = code.find(" else", start) if match.group(1) == "guard" else code.find(" {", start)
        end = len(code) if end < 0 else end
        return [
            bounds for bounds in pieces(code, start, end, ",")
            if bounds[0] < bounds[1] and not re.match(r"let |var |case |#", code[bounds[0]:bounds[1]])]
    match = re.match(r"^\s*(?:return |(?:let|var) \w+(?:: \w+)? = |\w+ = )(.+?) \? .+ : ", code)
    if match and max(depths(match.group(1) + " ")[-1:]) == 0:
        return [match.span(1)]
    match = re.match(r"^\s*return (.+)$", code) or re.search(r"(?:: Bool|-> Bool) \{ (.+) \}\s*$", code)
    if match and (re.search(r" (<|<=|>|>=|==|!=|&&|\|\|) ", match.group(1)) or "Bool {" in code):
        if "->" not in match.group(1) and "{" not in match.group(1):
            return [trimmed(code, match.span(1))]
    return []


def closing(code, opening):
    """Where the bracket at `opening` is closed on the line, or None."""
    depth = depths(code)
    for at in range(opening + 1, len(code)):
        if code[at] in ")]}" and depth[at] == depth[opening]:
            return at
    return None


class Finder:
    """The candidates of a file."""

    def __init__(self, file, text):
        self.file = file
        self.lines = text.split("\n")
        self.code = masked(self.lines)
        self.found = []
        self._inlinable = self._inlinable_lines()
        for number in range(len(self.lines)):
            if number not in self._inlinable:
                self._look(number)

    def _inlinable_lines(self):
        """Other modules compile these bodies: they cannot see the switch."""
        result, until = set(), None
        for number, code in enumerate(self.code):
            if "@inlinable" in code or "@_transparent" in code:
                until = len(code) - len(code.lstrip())
            if until is not None:
                result.add(number)
                if re.match(rf"^ {{{until}}}\}}", code) or re.match(rf"^ {{{until}}}\S.*\}}\s*$", code):
                    until = None
        return result

    def _function(self, number):
        """The function whose body the line lies in, or None."""
        indent = len(self.code[number]) - len(self.code[number].lstrip())
        for above in range(number - 1, -1, -1):
            code = self.code[above]
            if not code.strip():
                continue
            depth = len(code) - len(code.lstrip())
            if depth < indent or depth == indent and code.lstrip().startswith(")"):
                continuation = code.lstrip().startswith(")")
                indent = depth + 1 if continuation else depth
                if DECLARATION.search(code) and not continuation and code.rstrip().endswith(("{", "(", ",")):
                    match = NAME.search(code)
                    if match:
                        return next(group for group in match.groups() if group)
                if re.match(r"^\s*(\w+ )*(struct|class|enum|extension|actor|protocol) ", code):
                    return None
        return None

    def _look(self, number):
        code = self.code[number]
        if not code.strip():
            return
        if re.search(r"\bfunc\b", code):
            match = re.search(r"\bfunc ([^\s(<]+)", code)
            if code.rstrip().endswith("{") and "->" not in code and match:
                text = self.lines[number].rstrip() + f" if {SWITCH} {{ return }}"
                self._add(number, match.group(1), "early return", "returns at once", text)
            elif code.rstrip().endswith("}"):
                for bounds in conditions(code):
                    self._turn(number, match.group(1) if match else "", bounds)
            return
        one_line = re.search(r"\bvar (\w+): Bool \{ .+ \}\s*$", code)
        function = one_line.group(1) if one_line else self._function(number)
        if function is None or re.match(r"^\s*(case|init|static let|precondition|assert|@|#)", code):
            return
        for bounds in conditions(code):
            self._turn(number, function, bounds)
        self._numbers(number, function)
        self._ranges(number, function)
        self._statement(number, function)
        self._returns(number, function)
        self._extremes(number, function)

    def _add(self, number, function, kind, change, text):
        self.found.append(Mutant(self.file, number, function, kind, self.lines[number].strip(), change, text))

    def _replace(self, number, bounds, text):
        line = self.lines[number]
        return line[:bounds[0]] + text + line[bounds[1]:]

    def _turn(self, number, function, bounds):
        code, line = self.code[number], self.lines[number]
        for start, end in pieces(code, *bounds, r"&&|\|\|"):
            clause = line[start:end]
            lead = "try " if clause.startswith("try ") else ""
            if not clause or " as? " in clause or depths(code[start:end] + " ")[-1] != 0:
                continue
            turned = f"{lead}(({clause[len(lead):]}) != {SWITCH})"
            self._add(number, function, "condition turned", f"!({clause})", self._replace(number, (start, end), turned))
            for match in re.finditer(r" (<|<=|>|>=) ", code[start:end]):
                if depths(code[start:end])[match.start()] != 0:
                    continue
                moved = clause[:match.start(1)] + TURNED[match.group(1)] + clause[match.end(1):]
                text = f"{lead}({SWITCH} ? ({moved[len(lead):]}) : ({clause[len(lead):]}))"
                self._add(number, function, "bound moved", moved, self._replace(number, (start, end), text))
        start, end = bounds
        clause = line[start:end]
        operators = [m for m in re.finditer(r"&&|\|\|", code[start:end]) if depths(code[start:end])[m.start()] == 0]
        if len(operators) == 1 and "try" not in clause:
            at = operators[0]
            other = clause[:at.start()] + ("||" if at.group() == "&&" else "&&") + clause[at.end():]
            text = f"({SWITCH} ? ({other}) : ({clause}))"
            self._add(number, function, "condition turned", other, self._replace(number, bounds, text))

    def _numbers(self, number, function):
        for match in re.finditer(r" (&?[-+*/]|<<|>>|&) (\d+)(?![\w.])", self.code[number]):
            value = int(match.group(2))
            other = value - 1 if match.group(1)[-1] in "+-" or value > 1 else value + 1
            text = self._replace(number, match.span(2), f"({SWITCH} ? {other} : {value})")
            self._add(number, function, "bound moved", f"{match.group(1)} {other} for {match.group().strip()}", text)

    def _ranges(self, number, function):
        for match in re.finditer(r"(\.\.<|\.\.\.)\s*([\w.]+(?:\([^()]*\))?)(?=[\]) ]|$)", self.code[number]):
            after = self.code[number][match.end():].lstrip()
            if after[:1] in "+-*/&":
                continue
            end = self.lines[number][match.start(2):match.end(2)]
            text = self._replace(number, match.span(2), f"({SWITCH} ? ({end}) - 1 : ({end}))")
            self._add(number, function, "bound moved", f"{match.group(1)}({end} - 1)", text)

    def _statement(self, number, function):
        code, line = self.code[number], self.lines[number]
        statement = code.strip()
        match = re.match(r"^(try )?[a-zA-Z_][\w.!?]*(\[[^=]*\])?[\w.]*(\(.*\)| [-+|&*/]?&?= .+)$", statement)
        excluded = r"(try )?(return|throw|let|var|case|guard|if|for|while|switch|super|precondition|assert|fatalError|func|yield|break|init)\b"
        if not match or re.match(excluded, statement) or "{" in statement or re.match(r"(try )?self\.init", statement):
            return
        if any(depth < 0 for depth in depths(code)) or depths(code + " ")[-1] != 0:
            return
        before = next((c.rstrip() for c in reversed(self.code[:number]) if c.strip()), "")
        after = next((c.strip() for c in self.code[number + 1:] if c.strip()), "")
        if not before.endswith(("{", "}", ")")) and re.search(r"([-+*/=,(\[?:&|]|\breturn|\bin)$", before):
            return
        if function == "init" and re.match(r"self\.\w+ =", statement) or re.match(r"[.?:&|+*/]|- |else", after):
            return
        if before.endswith("{") and "->" in before or before.endswith(" in"):
            return
        blank = len(line) - len(line.lstrip())
        text = line[:blank] + f"if !{SWITCH} {{ {line[blank:len(code.rstrip())]} }}"
        self._add(number, function, "statement left out", "left out", text)

    def _returns(self, number, function):
        match = re.search(r"\breturn (true|false)\b", self.code[number])
        if match:
            value = f"!{SWITCH}" if match.group(1) == "true" else SWITCH
            text = self._replace(number, match.span(1), value)
            self._add(number, function, "return flipped", "return false" if match.group(1) == "true" else "return true", text)

    def _extremes(self, number, function):
        code, line = self.code[number], self.lines[number]
        for match in re.finditer(r"(?<![\w.])(?:Swift\.)?(min|max)\(", code):
            end = closing(code, match.end() - 1)
            if end is None:
                continue
            other = "max" if match.group(1) == "min" else "min"
            rest = line[match.end() - 1:end + 1]
            text = f"({SWITCH} ? Swift.{other}{rest} : Swift.{match.group(1)}{rest})"
            self._add(number, function, "min for max", f"{other}{rest}", self._replace(number, (match.start(), end + 1), text))


# Reads the switch once. The bytes of the file that HEARTWOOD_MUTANTS_REACHED names say which switches were met; it is mapped, so a crash keeps them.
SWITCHES = """\
#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#else
import Glibc
#endif

enum Mutant {
    static let active = getenv("HEARTWOOD_MUTANT").flatMap { Int(String(cString: $0)) } ?? -1
    nonisolated(unsafe) static let reached: UnsafeMutablePointer<UInt8>? = {
        guard let path = getenv("HEARTWOOD_MUTANTS_REACHED") else { return nil }
        let file = open(path, O_RDWR)
        guard file >= 0 else { return nil }
        let bytes = mmap(nil, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
        close(file)
        return bytes.flatMap { $0 == MAP_FAILED ? nil : $0.assumingMemoryBound(to: UInt8.self) }
    }()

    static func isActive(_ number: Int) -> Bool {
        if let reached { reached[number] = 1 }
        return active == number
    }
}
"""
