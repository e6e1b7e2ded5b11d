"""
A browser without a window, driven by WebDriver over loopback.

See https://www.w3.org/TR/webdriver2/; what begins with goog: or se/ is chromedriver's own.
"""

import contextlib
import json
import os
import re
import signal
import subprocess
import urllib.request

SWITCHES = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
KEYS = {"Enter": "\ue007", "End": "\ue010", "Left": "\ue012", "Right": "\ue014"}
DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class Browser:
    """One tab. Scripts are run by DevTools, which no policy of a page forbids."""

    def __init__(self, base):
        self._base = base

    def _ask(self, path, **body):
        request = urllib.request.Request(f"{self._base}{path}", json.dumps(body).encode())
        with DIRECT.open(request, timeout=60) as answer:
            return json.load(answer)["value"]

    def devtools(self, command, **parameters):
        return self._ask("/goog/cdp/execute", cmd=command, params=parameters)

    def open(self, path, dark=False, width=1200, height=900, script=True):
        """Show a file; where `script` is false its scripts are not run."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.devtools("Emulation.setEmulatedMedia", features=[scheme])
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.devtools("Emulation.setDeviceMetricsOverride", **size)
        self.devtools("Emulation.setScriptExecutionDisabled", value=not script)
        self.log("browser")
        self.log("performance")
        self._ask("/url", url=path.as_uri())

    def log(self, kind):
        """Return what was logged since the last time: "browser" is the console."""
        return self._ask("/se/log", type=kind)

    def requests(self):
        """Return the addresses that were asked for since the page was opened."""
        messages = [json.loads(entry["message"])["message"] for entry in self.log("performance")]
        return [
            message["params"]["request"]["url"]
            for message in messages
            if message["method"] == "Network.requestWillBeSent"
        ]

    def run(self, expression):
        """Return the value of a JavaScript expression, or of its promise."""
        how = {"returnByValue": True, "awaitPromise": True}
        answer = self.devtools("Runtime.evaluate", expression=expression, **how)
        assert "exceptionDetails" not in answer, answer
        return answer["result"].get("value")

    def texts(self, selector):
        """Return the text of every element, as it is shown."""
        return self.run(f"[...document.querySelectorAll({selector!r})].map(e => e.innerText)")

    def _find(self, selector):
        return self._ask("/element", using="css selector", value=selector)[ELEMENT]

    def click(self, selector):
        self._ask(f"/element/{self._find(selector)}/click")

    def point(self, selector):
        """Move the pointer to the middle of an element."""
        element = {ELEMENT: self._find(selector)}
        move = {"type": "pointerMove", "origin": element, "x": 0, "y": 0, "duration": 0}
        self._ask("/actions", actions=[{"type": "pointer", "id": "mouse", "actions": [move]}])

    def type(self, selector, text):
        """Type into an input; one of type file takes the path of a file."""
        self._ask(f"/element/{self._find(selector)}/value", text=text)

    def press(self, *names):
        """Press and release keys, where the focus is."""
        keys = [KEYS.get(name, name) for name in names]
        strokes = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self._ask("/actions", actions=[{"type": "key", "id": "keys", "actions": strokes}])


@contextlib.contextmanager
def browsing(profile):
    """Give a `Browser` whose profile is the empty folder `profile`."""
    command = ["chromedriver", "--port=0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as driver:
        try:
            lines = map(re.compile(r"started successfully on port (\d+)").search, driver.stdout)
            port = next(filter(None, lines))[1]
            base = f"http://127.0.0.1:{port}/session"
            options = {"args": [*SWITCHES, f"--user-data-dir={profile}"]}
            logs = {"browser": "ALL", "performance": "ALL"}
            wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": logs}
            session = Browser(base)._ask("", capabilities={"alwaysMatch": wanted})
            yield Browser(f"{base}/{session['sessionId']}")
        finally:
            os.killpg(driver.pid, signal.SIGKILL)  # the browser is in the driver's group
