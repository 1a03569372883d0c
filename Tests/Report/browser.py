"""Drives a headless Chromium over the pipe of its DevTools protocol, with Python's own modules.

Source: https://chromedevtools.github.io/devtools-protocol/; a message on the pipe ends with a zero byte.
"""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

SECONDS_MAX = 60


def program():
    """The path of a Chromium; None if there is none."""
    return next((path for path in map(shutil.which, ("chromium", "chromium-browser", "google-chrome")) if path), None)


class Browser:
    def __init__(self):
        self.folder = tempfile.mkdtemp()
        commands, answers = os.pipe(), os.pipe()
        # The browser reads from descriptor 3 and writes to 4.
        script = f'exec "$@" 3<&{commands[0]} 4>&{answers[1]}'
        self.process = subprocess.Popen(
            ["bash", "-c", script, "chromium", program(), "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
             "--disable-dev-shm-usage", "--no-first-run", f"--user-data-dir={self.folder}", "--remote-debugging-pipe", "about:blank"],
            pass_fds=(commands[0], answers[1]), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(commands[0])
        os.close(answers[1])
        self.input, self.output, self.bytes, self.number, self.events = commands[1], answers[0], b"", 0, []
        targets = self.call("Target.getTargets")["targetInfos"]
        target = next(each for each in targets if each["type"] == "page")["targetId"]
        self.session = None
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def close(self):
        self.process.terminate()
        self.process.wait()
        os.close(self.input)
        os.close(self.output)
        shutil.rmtree(self.folder, ignore_errors=True)

    def message(self):
        limit = time.monotonic() + SECONDS_MAX
        while b"\0" not in self.bytes:
            if not select.select([self.output], [], [], max(0, limit - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            more = os.read(self.output, 1 << 20)
            if not more:
                raise EOFError("the browser has ended")
            self.bytes += more
        text, self.bytes = self.bytes.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **parameters):
        self.number += 1
        request = {"id": self.number, "method": method, "params": parameters}
        if getattr(self, "session", None):
            request["sessionId"] = self.session
        os.write(self.input, json.dumps(request).encode() + b"\0")
        while True:
            message = self.message()
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                return message["result"]
            self.events.append(message)

    # A page.

    def open(self, path, width=1280, height=900, dark=False):
        """Loads a page. `faults` then has what its console said, and each request that it made beside its own file."""
        self.events = []
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", media="", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        self.call("Emulation.setTimezoneOverride", timezoneId="Europe/Berlin")
        # An address with another fragment alone would not load the page again.
        self.load("about:blank")
        self.load("file://" + os.path.abspath(path))

    def load(self, address):
        self.events = []
        self.call("Page.navigate", url=address)
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self.message())

    def faults(self):
        self.value("0")
        found = []
        for event in self.events:
            method, parameters = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                found.append(parameters["exceptionDetails"].get("exception", {}).get("description") or parameters["exceptionDetails"]["text"])
            elif method == "Runtime.consoleAPICalled":
                found.append("console: " + " ".join(str(each.get("value")) for each in parameters["args"]))
            elif method == "Log.entryAdded":
                found.append("log: " + parameters["entry"]["text"])
            elif method == "Page.javascriptDialogOpening":
                found.append("a dialog opened")
            elif method == "Network.requestWillBeSent" and not parameters["request"]["url"].startswith(("file:", "data:", "about:")):
                found.append("request: " + parameters["request"]["url"])
        return found

    def value(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(expression + ": " + str(result["exceptionDetails"].get("exception", {}).get("description")))
        return result["result"].get("value")

    def go(self, fragment):
        self.value(f"new Promise(done => {{ if (location.hash === {json.dumps('#' + fragment)}) return done(0);"
                   f" addEventListener('hashchange', () => setTimeout(done, 0), {{ once: true }}); location.hash = {json.dumps(fragment)}; }})")

    def click(self, selector):
        """Clicks in the middle of an element, as a person does."""
        place = self.value(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.scrollIntoView({{ block: 'center' }});"
            " const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1)
        self.settle()

    def key(self, name):
        codes = {"Tab": 9, "Enter": 13, " ": 32, "ArrowDown": 40}
        text = {"Enter": "\r", " ": " "}.get(name)
        self.call("Input.dispatchKeyEvent", type="keyDown", key=name, code=name, windowsVirtualKeyCode=codes[name], **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", key=name, code=name, windowsVirtualKeyCode=codes[name])
        self.settle()

    def type(self, text):
        self.call("Input.insertText", text=text)
        self.settle()

    def settle(self):
        self.value("new Promise(done => requestAnimationFrame(() => setTimeout(done, 0)))")

    def drawing(self):
        """What decides how a page looks beside the page: the browser's main version, and the width of a text in the page's font."""
        product = self.call("Browser.getVersion")["product"].split(".")[0]
        width = self.value("(() => { const c = document.createElement('canvas').getContext('2d'); c.font = getComputedStyle(document.body).font;"
                           " return c.measureText('Portez ce vieux whisky 0123456789').width; })()")
        return f"{product} with a text of {width:.1f}"

    def small(self, height, scale):
        """The picture of a page's first part, made smaller, as a PNG."""
        clip = {"x": 0, "y": 0, "width": self.value("innerWidth"), "height": height, "scale": scale}
        return base64.b64decode(self.call("Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True)["data"])

    def picture(self, path, whole=False):
        if whole:
            height = self.value("document.documentElement.scrollHeight")
            width = self.value("innerWidth")
            self.call("Emulation.setDeviceMetricsOverride", width=width, height=min(height, 12000), deviceScaleFactor=1, mobile=False)
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))
