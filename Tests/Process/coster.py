"""The real `coster` binary as the process tests see it: a data directory, a running service, and a client that speaks HTTPS to it.

Standard library and the openssl command only. Everything talks to loopback, and ends only what it started.
"""

import argparse
import base64
import http.client
import json
import os
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
VECTORS = Path(os.environ.get("COSTER_VECTORS") or CHECKOUT.parent / "shared" / "vectors")


class Failure(Exception):
    """What a test found wrong, in one sentence or more."""


class NotTested(Exception):
    """Why a test could not be made here. Said loudly, never silently passed over."""


def check(condition, what):
    if not condition:
        raise Failure(what)


def openssl(*arguments, stdin=None, binary=True):
    run = subprocess.run(["openssl", *map(str, arguments)], input=stdin, capture_output=True)
    if run.returncode != 0:
        raise Failure(f"openssl {arguments[0]} failed: {run.stderr.decode(errors='replace').strip()}")
    return run.stdout if binary else run.stdout.decode()


def wait_until(condition, seconds, what):
    """Polls a condition that has no other signal; the deadline only bounds a hang and is never the thing tested."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        result = condition()
        if result:
            return result
        time.sleep(0.01)
    raise Failure(f"{what} did not happen within {seconds} s")


class Answer:
    """What came back for one request."""

    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def code(self):
        """The problem's code; None where the answer is none."""
        return self.json.get("code") if self.headers.get("content-type", "").startswith("application/problem+json") else None

    def expect(self, *statuses):
        check(self.status in statuses, f"answered {self.status} instead of {'/'.join(map(str, statuses))}: {self.body[:600].decode(errors='replace')}")
        return self.json if "json" in self.headers.get("content-type", "") else self.body

    def expect_problem(self, status, code):
        check((self.status, self.code) == (status, code), f"answered {self.status} {self.body[:600].decode(errors='replace')} instead of {status} {code}")
        problem = self.json
        check(problem["title"].endswith(".") and problem["detail"].endswith("."), f"{code} lacks its cause or its next step")
        return problem


class Client:
    """One caller with one keep-alive connection, opened anew when it is gone. For one thread."""

    def __init__(self, service, credential=None, timeout=30):
        self.service, self.credential, self.timeout = service, credential, timeout
        self.connection = None

    def request(self, method, path, body=None, headers=None):
        if self.connection is None:
            self.connection = http.client.HTTPSConnection("127.0.0.1", self.service.port, timeout=self.timeout, context=self.service.tls)
        headers = dict(headers or {})
        if self.credential:
            headers["Authorization"] = f"Bearer {self.credential['credential']}"
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
            headers.setdefault("Content-Type", "application/json")
        try:
            self.connection.request(method, path, body=body, headers=headers)
            response = self.connection.getresponse()
            answer = Answer(response.status, {name.lower(): value for name, value in response.getheaders()}, response.read())
        except (OSError, http.client.HTTPException):
            self.close()
            raise
        if response.will_close:
            self.close()
        return answer

    def get(self, path):
        return self.request("GET", path)

    def post(self, path, body=None, headers=None):
        return self.request("POST", path, {} if body is None else body, headers)

    def close(self):
        if self.connection is not None:
            self.connection.close()
            self.connection = None

    # The main job, step by step.

    def make_merchant(self, name="Process test"):
        return self.post("/v1/merchants", {"name": name}).expect(201)["id"]

    def make_registration(self, merchant, identifier, **members):
        registration = self.post("/v1/merchant-identifiers", {"identifier": identifier, "merchant": merchant}).expect(201)["id"]
        if members:
            self.request("PATCH", f"/v1/merchant-identifiers/{registration}", members).expect(200)
        return registration

    def make_request(self, registration, algorithm="ec_p256"):
        """A key pair and its certificate record; the CSR is another call."""
        return self.post(f"/v1/merchant-identifiers/{registration}/certificates", {"key_algorithm": algorithm}).expect(201)

    def signing_request(self, certificate):
        return self.get(f"/v1/certificates/{certificate}/certificate-signing-request").expect(200).decode()

    def issue(self, request, identifier):
        """The sandbox plays Apple's portal."""
        return self.post("/v1/sandbox/certificates", {"certificate_signing_request": request, "identifier": identifier}).expect(200)["certificate"]

    def upload(self, registration, content, password=None):
        if password is None:
            return self.request("POST", f"/v1/merchant-identifiers/{registration}/certificates/upload", content if isinstance(content, bytes) else content.encode(),
                                {"Content-Type": "application/octet-stream"})
        return self.post(f"/v1/merchant-identifiers/{registration}/certificates/upload", {"content": base64.b64encode(content).decode(), "password": password})

    def make_certificate(self, registration, identifier, algorithm="ec_p256"):
        """From nothing to a staged certificate."""
        record = self.make_request(registration, algorithm)
        issued = self.issue(self.signing_request(record["id"]), identifier)
        return self.upload(registration, issued).expect(200)

    def mint(self, registration, **members):
        """The sandbox plays a phone."""
        return self.post("/v1/sandbox/payment-tokens", {"merchant_identifier": registration, **members}).expect(200)["token"]

    def decrypt(self, token, **members):
        return self.post("/v1/decryptions", {"token": token, **members})


class Service:
    """A data directory, and `coster serve` on it."""

    # No rate limits: the tests are louder than a merchant.
    QUIET = ["--rate-uploads", "off", "--rate-certificate-signing-requests", "off", "--maximum-pending-requests", "1000"]

    def __init__(self, binary, folder=None):
        self.binary = Path(binary).resolve()
        self.folder = Path(folder) if folder else Path(tempfile.mkdtemp(prefix="coster-test-"))
        self.owns_folder = folder is None
        self.data = self.folder / "coster-data"
        self.process = None
        self.port = None
        self.tls = None
        self.reader = None

    def __enter__(self):
        self.run("init").check()
        return self

    def __exit__(self, kind, *_):
        if self.process is not None and kind is not None and self.process.poll() is not None:
            print(f"  the service had ended by itself, with status {self.process.returncode}", file=sys.stderr)
        self.stop(signal.SIGKILL)
        if kind is not None and self.errors():
            print("  service: " + self.errors()[-4000:].replace("\n", "\n  service: "), file=sys.stderr)
        if self.owns_folder:
            shutil.rmtree(self.folder, ignore_errors=True)

    # Commands

    def run(self, *arguments, environment=None):
        """Any command of the binary on this data directory."""
        run = subprocess.run([self.binary, arguments[0], "--data", self.data, *map(str, arguments[1:])], capture_output=True, text=True,
                             env={**os.environ, **(environment or {})}, timeout=300)
        return CommandRun(arguments, run)

    def credential(self, role, *arguments):
        return json.loads(self.run("credentials", "create", "--role", role, "--json", *arguments).check().output)

    def verify(self):
        """`coster verify`: the file, every sealed key, the chain. Gives its JSON; raises when it finds anything."""
        return json.loads(self.run("verify", "--json").check().output)

    # Serving

    def start(self, *arguments, environment=None, before=None, expect_start=True):
        """Starts `serve` and reads where it listens.

        - before: runs in the child before the program, such as to set limits.
        - expect_start: False gives None where it ended by itself instead; see `CommandRun` of `ended`.
        """
        check(self.process is None, "the test starts a second service in one object")
        output, errors = self.folder / "serve.out", self.folder / "serve.err"
        with open(output, "w") as out, open(errors, "a") as err:
            self.process = subprocess.Popen(
                [self.binary, "serve", "--data", self.data, "--listen", "127.0.0.1:0", *self.QUIET, *map(str, arguments)], stdout=out, stderr=err,
                cwd=self.folder, env={**os.environ, **(environment or {})}, preexec_fn=before)
        address = wait_until(lambda: self._listening(output), 60, "the start of the service")
        if address is None or address is False:
            raise Failure("the service did not start")
        if address == "ended":
            status, self.process = self.process.wait(), None
            if expect_start:
                raise Failure(f"the service ended with status {status}: {self.errors()[-2000:]}")
            return status
        self.port = int(address.rsplit(":", 1)[1])
        if self.tls is None:
            self.tls = ssl.create_default_context(cafile=self.data / "tls" / "certificate.pem")
        return None

    def _listening(self, output):
        for line in output.read_text().splitlines():
            if line.startswith("listening on https://"):
                return line.removeprefix("listening on https://")
        return "ended" if self.process.poll() is not None else None

    @property
    def pid(self):
        """The process that holds the memory: the one started, or the one it has become the parent of."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return int(children[0]) if children else self.process.pid

    def kill(self):
        """As a power cut for the process: no handler runs."""
        os.kill(self.pid, signal.SIGKILL)
        self.process.wait()
        self.process = None

    def stop(self, how=signal.SIGTERM, seconds=60):
        """Ends the service and gives its exit status."""
        if self.process is None:
            return None
        if self.process.poll() is None:
            os.kill(self.pid, how)
        status = self.process.wait(timeout=seconds)
        self.process = None
        return status

    def errors(self):
        path = self.folder / "serve.err"
        return path.read_text(errors="replace") if path.exists() else ""

    def client(self, credential=None, **members):
        return Client(self, credential, **members)


class CommandRun:
    """How one command ended."""

    def __init__(self, arguments, run):
        self.name, self.status, self.output, self.errors = arguments[0], run.returncode, run.stdout, run.stderr

    def check(self):
        check(self.status == 0, f"coster {self.name} ended with status {self.status}: {self.errors.strip()} {self.output.strip()[-2000:]}")
        return self

    def expect_refusal(self, code):
        """Exit status 1, and code, cause and next step on standard error."""
        check(self.status == 1, f"coster {self.name} ended with status {self.status} instead of 1: {self.errors}")
        expect_refusal_text(self.errors, code)
        return self


def expect_refusal_text(text, code):
    check(code in text, f"{code} is not named: {text.strip()}")
    check("cause:" in text and "next step:" in text, f"{code} comes without cause or next step: {text.strip()}")


def parallel(count, body):
    """Runs `body(index)` on threads; the first failure of any is raised here."""
    failures = []

    def guarded(index):
        try:
            body(index)
        except Exception as failure:  # handed to the caller's thread
            failures.append(failure)

    threads = [threading.Thread(target=guarded, args=(index,), daemon=True) for index in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def arguments(description, **extra):
    """The command line every process test has: `--binary`, `--long`, and what `extra` adds by name."""
    parser = argparse.ArgumentParser(description=description.strip().splitlines()[0])
    parser.add_argument("--binary", default=CHECKOUT / ".build" / "debug" / "coster", type=Path)
    parser.add_argument("--long", action="store_true", help="the long form, for scripts/check --long")
    for name, options in extra.items():
        parser.add_argument(name, **options)
    return parser.parse_args()


def main(test, description, **extra):
    """Runs one test as a program: 0 good, 1 failed, 77 not possible here."""
    options = arguments(description, **extra)
    if not options.binary.exists():
        print(f"  there is no {options.binary}: build it first (swift build)", file=sys.stderr)
        sys.exit(1)
    try:
        print("  " + test(options))
    except Failure as failure:
        print(f"  FAILED: {failure}", file=sys.stderr)
        sys.exit(1)
    except (OSError, http.client.HTTPException) as failure:
        print(f"  FAILED: the service did not answer: {failure!r}", file=sys.stderr)
        traceback.print_exc()
        sys.exit(1)
    except NotTested as reason:
        print(f"  NOT TESTED: {reason}", file=sys.stderr)
        sys.exit(77)
