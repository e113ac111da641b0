"""Starts the battle and mica inspect, for the tests of the API and of the page."""
import http.client
import json
import re
import subprocess
import time
import urllib.parse

PROGRAM_TOKEN = "programprogram0123"
PAGE_TOKEN = "pagepagepage012345"


def read_address(process, seconds=30):
    """The port in the first line that a program prints."""
    line = process.stdout.readline()
    found = re.search(r"http://127\.0\.0\.1:(\d+)/", line)
    assert found, f"no address in {line!r}"
    return int(found.group(1))


class Battle:
    def __init__(self, program, *arguments, port=0):
        command = [program, "--token", PROGRAM_TOKEN, *arguments] + (["--port", str(port)] if port else [])
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.port = read_address(self.process)
        self.url = f"http://127.0.0.1:{self.port}/?token={PROGRAM_TOKEN}"

    def end(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


class Tool:
    """mica inspect and its API."""

    def __init__(self, tool, *inputs):
        self.process = subprocess.Popen([tool, "inspect", "--token", PAGE_TOKEN, *inputs], stdout=subprocess.PIPE, text=True)
        self.port = read_address(self.process)
        self.url = f"http://127.0.0.1:{self.port}/?token={PAGE_TOKEN}"

    def raw(self, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path, body=body, headers=headers or {})
            answer = connection.getresponse()
            return answer.status, answer.read().decode(), answer.headers
        finally:
            connection.close()

    def call(self, method, name, body=None, **parameters):
        """Returns (status, parsed JSON)."""
        query = urllib.parse.urlencode(parameters)
        status, text, _ = self.raw(method, f"/api/{name}?{query}", body, {"Authorization": f"Bearer {PAGE_TOKEN}"})
        return status, json.loads(text)

    def get(self, name, **parameters):
        status, value = self.call("GET", name, **parameters)
        assert status == 200, (name, parameters, status, value)
        return value

    def post(self, name, body="", **parameters):
        status, value = self.call("POST", name, body, **parameters)
        assert status == 200, (name, parameters, status, value)
        return value

    def wait(self, condition, what, seconds=30):
        """Waits until a condition of the status holds."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            status = self.get("status")
            if condition(status):
                return status
            time.sleep(0.05)
        raise AssertionError(f"{what} does not happen: {status}")

    def end(self):
        self.process.terminate()
        status = self.process.wait(30)
        self.process.stdout.close()
        assert status == 0, f"mica inspect ended with {status}"
