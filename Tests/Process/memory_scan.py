"""After 1,000 decryptions and 50 imports and 5 s idle, no secret stands in the database, the logs, or any readable memory outside the secure heap.

Needs root: it reads /proc/PID/mem. What is looked for, in both byte orders: EC scalars, PKCS#8, passwords, credential secrets, account numbers,
cryptograms, the root key; RSA primes once SIGHUP has emptied the key cache (while a key is cached they stand in OpenSSL's Montgomery cache). Needles are kept
masked, and what is read is masked before it is compared, so that no needle ever stands in a memory that could be scanned.

Two controls: the scalars of cached keys must be found *in* the secure heap, and a service without wiping (COSTER_TEST_NO_WIPING=1) must be found out.
"""

import base64
import hashlib
import os
import re
import secrets
import signal
import sys
import time
from pathlib import Path

import coster

DECRYPTIONS = 1000
EC_IMPORTS, RSA_IMPORTS = 40, 10
WORKERS = 4
MASK = bytes(byte ^ 0xA7 for byte in range(256))
SETTLE_SECONDS = 5


class Needles:
    """Secrets by what they are; kept masked.

    Found by their words: a needle of 15 bytes or more holds a whole aligned word of 8 wherever it lies, so that one set of a memory's words is enough to
    look for thousands of needles at once.
    """

    def __init__(self):
        self.masked = {}
        self.words = {}

    def add(self, kind, name, secret):
        if isinstance(secret, str):
            secret = secret.encode()
        for form, content in ((kind, secret), (f"{kind}, reversed", secret[::-1])):
            # A long one is found by its middle: both ends may be lost when memory is used anew.
            self._add(f"{form} ({name})", (content if len(content) <= 48 else content[len(content) // 2 - 16:len(content) // 2 + 16]).translate(MASK))

    def _add(self, what, needle):
        coster.check(len(needle) >= 15, f"{what} is too short to be looked for")
        self.masked[needle] = what
        for offset in range(8):
            self.words.setdefault(int.from_bytes(needle[offset:offset + 8], sys.byteorder), []).append((needle, offset))

    def add_key(self, kind, name, content):
        """A number or an encoding that programs also write as text."""
        self.add(kind, name, content)
        self.add(f"{kind} as hex", name, content.hex())
        self.add(f"{kind} as HEX", name, content.hex().upper())
        for skipped in range(3):
            self.add(f"{kind} as base64", name, base64.b64encode(content[skipped:len(content) - (len(content) - skipped) % 3])[2:-2])

    def __len__(self):
        return len(self.masked)

    def only(self, kind):
        chosen = Needles()
        for needle, what in self.masked.items():
            if what.startswith(kind):
                chosen._add(what, needle)
        return chosen


class Finding:
    def __init__(self, what, where):
        self.what, self.where = what, where

    def __str__(self):
        return f"{self.what} in {self.where}"


def search(content, needles, where):
    masked = (content + bytes(-len(content) % 8)).translate(MASK)
    found = set()
    for word in set(memoryview(masked).cast("Q")).intersection(needles.words):
        pattern = word.to_bytes(8, sys.byteorder)
        place = masked.find(pattern)
        while place >= 0:
            if place % 8 == 0:
                for needle, offset in needles.words[word]:
                    if place >= offset and masked.startswith(needle, place - offset):
                        found.add((place - offset, needle))
            place = masked.find(pattern, place + 1)
    return [Finding(needles.masked[needle], f"{where}+{place:#x}") for place, needle in sorted(found)]


class Mapping:
    def __init__(self, header, flags):
        span, self.permissions, _, _, _, *name = header.split(None, 5)
        self.start, self.end = (int(part, 16) for part in span.split("-"))
        self.name = name[0].strip() if name else "anonymous"
        self.flags = flags

    @property
    def is_secure_heap(self):
        """OpenSSL locks its secure heap and leaves it out of dumps; nothing else here is both."""
        return {"lo", "dd"} <= self.flags

    @property
    def is_readable(self):
        return self.permissions.startswith("r") and self.name not in ("[vvar]", "[vsyscall]", "[vvar_vclock]")


def mappings(pid):
    header, found = None, []
    for line in Path(f"/proc/{pid}/smaps").read_text().splitlines():
        if re.match(r"^[0-9a-f]+-[0-9a-f]+ ", line):
            header = line
        elif line.startswith("VmFlags:"):
            found.append(Mapping(header, set(line.split()[1:])))
    return found


def scan(pid, needles):
    """Findings outside the secure heap, findings inside it, and how many bytes were read."""
    outside, inside, size = [], [], 0
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        for mapping in mappings(pid):
            if not mapping.is_readable:
                continue
            place, rest, overlap = mapping.start, mapping.end - mapping.start, b""
            while rest > 0:
                try:
                    memory.seek(place)
                    part = memory.read(min(rest, 16 << 20))
                except OSError:
                    break  # a guard page
                if not part:
                    break
                findings = search(overlap + part, needles, f"{mapping.name} {mapping.permissions}")
                (inside if mapping.is_secure_heap else outside).extend(findings)
                size += len(part)
                place, rest, overlap = place + len(part), rest - len(part), part[-4096:]
    return outside, inside, size


def describe(findings):
    counted = {}
    for finding in findings:
        place = re.sub(r"\+0x[0-9a-f]+$", "", finding.where)
        key = (re.sub(r" \(.*\)$", "", finding.what), place)
        counted[key] = counted.get(key, 0) + 1
    return "; ".join(f"{count} × {what} in {place}" for (what, place), count in sorted(counted.items()))


class Import:
    """A key made elsewhere, with its certificate, in a `.p12` under a password of its own."""

    def __init__(self, folder, index, algorithm, needles):
        self.identifier = f"merchant.com.example.memory{index}"
        self.password = "pw-" + secrets.token_urlsafe(18)
        key = folder / f"{index}.key"
        if algorithm == "ec":
            coster.openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", key)
        else:
            coster.openssl("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", key)
        value = hashlib.sha256(self.identifier.encode()).hexdigest().upper()
        certificate = coster.openssl(
            "req", "-x509", "-key", key, "-days", "30", "-subj", f"/UID={self.identifier}/CN=Apple Pay Payment Processing:{self.identifier}/OU=TEAM000000/O=Example/C=US",
            "-addext", "basicConstraints=critical,CA:FALSE", "-addext", "keyUsage=critical,keyEncipherment,keyAgreement",
            "-addext", f"1.2.840.113635.100.6.32=ASN1:UTF8String:{value}")
        # Old and new ways to protect it, as Keychain and OpenSSL write them.
        profile = ["-legacy"] if index % 3 == 0 else []
        self.p12 = coster.openssl("pkcs12", "-export", "-inkey", key, "-passout", f"pass:{self.password}", *profile, stdin=certificate)
        pkcs8 = coster.openssl("pkcs8", "-topk8", "-nocrypt", "-in", key, "-outform", "DER")
        needles.add("password", self.identifier, self.password)
        needles.add("password as BMPString", self.identifier, self.password.encode("utf-16-be"))
        numbers = numbers_of(key)
        # PKCS#8 by where a tag meets a secret number: the number alone is another needle.
        seam = pkcs8.index(numbers["priv" if algorithm == "ec" else "prime1"])
        needles.add_key("PKCS#8", self.identifier, pkcs8[seam - 12:seam + 20])
        if algorithm == "ec":
            needles.add_key("EC scalar", self.identifier, numbers["priv"].rjust(32, b"\0"))
        else:
            for name in ("prime1", "prime2", "exponent1", "exponent2", "coefficient"):
                needles.add("RSA " + name, self.identifier, numbers[name])
            needles.add("RSA private exponent", self.identifier, numbers["privateExponent"])
        key.unlink()


def numbers_of(key):
    """The numbers of a private key, as openssl prints them."""
    numbers, name = {}, None
    for line in coster.openssl("pkey", "-in", key, "-noout", "-text", binary=False).splitlines():
        if line.startswith("    ") and name:
            numbers[name] += bytes.fromhex(line.strip().replace(":", ""))
        else:
            name = line.split(":")[0]
            numbers[name] = b""
    return {name: value.lstrip(b"\0") for name, value in numbers.items()}


class Scene:
    """A service that has done a day's work, and what must not be found."""

    def __init__(self, service, decryptions, ec_imports, rsa_imports):
        self.service, self.needles = service, Needles()
        keys = service.folder / "keys"
        keys.mkdir(mode=0o700)
        self.imports = [Import(keys, index, "ec" if index < ec_imports else "rsa", self.needles) for index in range(ec_imports + rsa_imports)]
        self.decryptions = decryptions
        self.operator, self.payments, self.revoked = (service.credential(role) for role in ("operator", "payment_service", "payment_service"))
        for credential in (self.operator, self.payments, self.revoked):
            self.needles.add_key("credential secret", credential["id"], decoded(credential["api_secret"]))
            self.needles.add("credential secret as text", credential["id"], credential["api_secret"])
        self.needles.add_key("root key", "root.key", bytes.fromhex((service.data / "root.key").read_text().strip()))

    def work(self):
        operator = self.service.client(self.operator)
        merchant = operator.make_merchant()
        registrations = []
        for one in self.imports:
            registration = operator.make_registration(merchant, one.identifier)
            operator.upload(registration, one.p12, "not the " + one.password[:8]).expect_problem(422, "pkcs12.password_wrong")
            operator.upload(registration, one.p12, one.password).expect(201)
            registrations.append(registration)
        own = operator.make_registration(merchant, "merchant.com.example.memory")
        operator.make_certificate(own, "merchant.com.example.memory")
        operator.make_certificate(own, "merchant.com.example.memory", "rsa_2048")
        self.service.client(self.revoked).get("/v1/problems").expect(200)
        operator.request("DELETE", f"/v1/credentials/{self.revoked['id']}").expect(200, 204)
        registrations.append(own)
        operator.close()
        sent = [[] for _ in range(WORKERS)]

        def decrypt(index):
            client = self.service.client(self.payments)
            for turn in range(index, self.decryptions, WORKERS):
                number = "4" + "".join(secrets.choice("0123456789") for _ in range(15))
                cryptogram = secrets.token_bytes(20)
                content = {"applicationPrimaryAccountNumber": number, "applicationExpirationDate": "301231", "currencyCode": "840", "transactionAmount": 1999,
                           "paymentDataType": "3DSecure", "paymentData": {"onlinePaymentCryptogram": base64.b64encode(cryptogram).decode(), "eciIndicator": "7"}}
                token = client.mint(registrations[turn % len(registrations)], payload=content)
                opened = client.decrypt(token).expect(200)
                coster.check(opened["network_token"]["number"] == number, "another number came out")
                # Every fourth is asked again and every eighth refused, for their ways through the code.
                if turn % 4 == 0:
                    coster.check(client.decrypt(token).expect(200)["replayed"], "no replay")
                if turn % 8 == 0:
                    client.decrypt(token, expected={"amount": "1.00"}).expect_problem(422, "payment_token.expectation_failed")
                sent[index].append((number, cryptogram))
            client.close()

        coster.parallel(WORKERS, decrypt)
        for number, cryptogram in (pair for part in sent for pair in part):
            self.needles.add("account number", "token", number)
            self.needles.add("cryptogram", "token", cryptogram)
            self.needles.add("cryptogram as base64", "token", base64.b64encode(cryptogram))

    def files(self):
        """Database, WAL and logs: everything the service has written but the two files that are there to hold a key."""
        findings = []
        for path in sorted([*self.service.data.rglob("*"), *self.service.folder.glob("serve.*")]):
            if path.is_file() and path.name != "root.key":
                findings += search(path.read_bytes(), self.needles, path.name)
        return findings


def decoded(text):
    try:
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except ValueError:
        return text.encode()


RSA_NUMBERS = ("RSA ",)


def test(options):
    if os.geteuid() != 0:
        raise coster.NotTested("only root can read another process's memory")
    decryptions = options.decryptions
    with coster.Service(options.binary) as service:
        scene = Scene(service, decryptions, EC_IMPORTS, RSA_IMPORTS)
        service.start()
        scene.work()
        # The one wait that is part of the claim: what a request left behind must be gone without another request's help.
        time.sleep(SETTLE_SECONDS)
        heaps = [mapping for mapping in mappings(service.pid) if mapping.is_secure_heap]
        coster.check(heaps, "no locked, undumpable mapping: the secure heap is not there or not locked")
        findings, inside, size = scan(service.pid, scene.needles)
        primes = [finding for finding in findings if finding.what.startswith(RSA_NUMBERS)]
        others = [finding for finding in findings if not finding.what.startswith(RSA_NUMBERS)]
        coster.check(not others, f"found after {SETTLE_SECONDS} s idle: {describe(others)}")
        coster.check(any(finding.what.startswith("EC scalar") for finding in inside), "the scan does not even see the cached keys in the secure heap")
        os.kill(service.pid, signal.SIGHUP)
        coster.wait_until(lambda: not any(finding.what.startswith(("EC scalar (", "EC scalar, reversed")) for finding in scan(service.pid, scene.needles.only("EC scalar"))[1]),
                          10, "the emptying of the key cache after SIGHUP")
        findings, inside, _ = scan(service.pid, scene.needles)
        coster.check(not findings, f"found after the key cache was emptied: {describe(findings)}")
        # What is left in there is wiped too, not only let go.
        left = [finding for finding in inside if not finding.what.startswith("root key")]
        coster.check(not left, f"still in the secure heap after the key cache was emptied: {describe(left)}")
        coster.check(not scene.files(), f"found in files: {describe(scene.files())}")
        service.client(scene.payments).get("/healthz").expect(200)
        service.stop()
    control = negative_control(options)
    return (f"{size / 1048576:.0f} MiB of memory, {len(scene.needles)} needles: none outside the secure heap after {decryptions} decryptions and {EC_IMPORTS + RSA_IMPORTS} imports; "
            f"{len(primes)} RSA numbers while keys were cached, none after SIGHUP; none in files; without wiping {control} were found")


def negative_control(options):
    """The same scan of a service that does not wipe: it must find something, or it looks in the wrong place."""
    with coster.Service(options.binary) as service:
        scene = Scene(service, 40, 4, 1)
        service.start(environment={"COSTER_TEST_NO_WIPING": "1"})
        scene.work()
        findings, _, _ = scan(service.pid, scene.needles)
        coster.check(findings, "a service that does not wipe was not found out: this scan proves nothing")
        return len(findings)


if __name__ == "__main__":
    coster.main(test, __doc__, **{"--decryptions": {"type": int, "default": DECRYPTIONS}})
