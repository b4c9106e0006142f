"""Kill -9 in a loop while CSRs, uploads, decryptions and revocations run: nothing acknowledged is lost, nothing is half there.

`kill9.py [CYCLES]`; 15 by default, 300 with --long. After each kill: every acknowledged record is there in its state or a later one, every acknowledged
decryption has its record and its replay mark, every revoked credential is refused, every key with a certificate opens a fresh token, what was not
acknowledged is there as a whole or not at all, and `coster verify` opens every key row and computes the audit chain.
"""

import random
import subprocess
import threading
import time
import zlib

import coster

WORKERS = 4
# States a record can be found in once it was acknowledged in one.
LATER = {"awaiting_certificate": {"awaiting_certificate", "staged", "active"}, "staged": {"staged", "active"}, "active": {"active", "retiring"},
         "cancelled": {"cancelled"}}


class Acknowledged:
    """What the service has said it did, and what it had been asked when it was killed."""

    def __init__(self):
        self.lock = threading.Lock()
        self.registrations = {}  # id: identifier
        self.certificates = {}  # id: (registration, status, public key hash)
        self.asked_certificates = 0
        self.decryptions = []  # (decryption id, token)
        self.revoked = []  # credentials
        self.living = []  # credentials
        self.rotated = []  # (old credential, new credential), old ended at once

    def note(self, change):
        with self.lock:
            change(self)


class Worker:
    """Does one thing after another until its connection dies with the server."""

    def __init__(self, service, operator, payments, merchant, cycle, index, acknowledged):
        self.operator, self.payments = service.client(operator, timeout=20), service.client(payments, timeout=20)
        self.service, self.merchant, self.acknowledged = service, merchant, acknowledged
        self.identifier = f"merchant.com.example.kill.c{cycle}.w{index}"
        self.random = random.Random(zlib.crc32(self.identifier.encode()))

    def run(self):
        try:
            registration = self.operator.make_registration(self.merchant, self.identifier)
            self.acknowledged.note(lambda all: all.registrations.update({registration: self.identifier}))
            while True:
                self.certificate(registration)
                for _ in range(self.random.randrange(6)):
                    self.decryption(registration)
                self.credential()
        except (OSError, coster.http.client.HTTPException):
            return  # killed: what was asked last is not acknowledged

    def record(self, registration, certificate):
        self.acknowledged.note(lambda all: all.certificates.update({certificate["id"]: (registration, certificate["status"], certificate["public_key_hash"])}))

    def certificate(self, registration):
        self.acknowledged.note(lambda all: setattr(all, "asked_certificates", all.asked_certificates + 1))
        made = self.operator.make_request(registration)
        self.record(registration, made)
        request = self.operator.signing_request(made["id"])
        if self.random.random() < 0.2:
            self.record(registration, self.operator.post(f"/v1/certificates/{made['id']}/cancel").expect(200))
            return
        issued = self.operator.issue(request, self.identifier)
        self.record(registration, self.operator.upload(registration, issued).expect(200))

    def decryption(self, registration):
        if not any(of == registration and status in ("staged", "active") for of, status, _ in self.acknowledged.certificates.values()):
            return
        token = self.payments.mint(registration)
        answer = self.payments.decrypt(token).expect(200)
        self.acknowledged.note(lambda all: all.decryptions.append((answer["id"], token)))

    def credential(self):
        # Through two connections: the made one is used, then revoked or rotated with no overlap.
        made = self.operator.post("/v1/credentials", {"role": "payment_service", "name": self.identifier}).expect(201)
        if self.random.random() < 0.5:
            self.operator.request("DELETE", f"/v1/credentials/{made['id']}").expect(200, 204)
            self.acknowledged.note(lambda all: all.revoked.append(made))
        elif self.random.random() < 0.5:
            new = self.operator.post(f"/v1/credentials/{made['id']}/rotate", {"overlap_seconds": 0}).expect(200, 201)
            self.acknowledged.note(lambda all: all.rotated.append((made, new)))
        else:
            self.acknowledged.note(lambda all: all.living.append(made))


class Judge:
    """Looks at everything that was acknowledged in a cycle, after the restart."""

    def __init__(self, service, operator, payments, stranger, acknowledged):
        self.service, self.acknowledged = service, acknowledged
        self.operator, self.payments, self.stranger = service.client(operator), service.client(payments), service.client(stranger)

    def judge(self):
        found = {}
        for registration, identifier in self.acknowledged.registrations.items():
            coster.check(self.operator.get(f"/v1/merchant-identifiers/{registration}").expect(200)["identifier"] == identifier, f"{registration} is another one")
            for record in self.records(identifier):
                found[record["id"]] = record
        for id, (registration, status, hash) in self.acknowledged.certificates.items():
            coster.check(id in found, f"{id}, acknowledged as {status}, is lost")
            coster.check(found[id]["public_key_hash"] == hash, f"{id} has another key")
            coster.check(found[id]["status"] in LATER[status] | ({"cancelled"} if status == "awaiting_certificate" else set()) | ({"retiring"} if status == "staged" else set()),
                         f"{id}, acknowledged as {status}, is {found[id]['status']}")
        coster.check(len(found) <= self.acknowledged.asked_certificates, f"{len(found)} certificates, but only {self.acknowledged.asked_certificates} were asked for")
        for record in found.values():
            self.whole(record)
        self.decryptions()
        self.credentials()

    def records(self, identifier):
        after, records = "", []
        while True:
            page = self.operator.get(f"/v1/certificates?merchant_identifier={identifier}&limit=100{after}").expect(200)
            records += page["data"]
            if page["next"] is None:
                return records
            after = f"&after={page['next']}"

    def whole(self, record):
        """A record has all that its state promises, whether it was acknowledged or not."""
        request = self.operator.signing_request(record["id"])
        run = subprocess.run(["openssl", "req", "-verify", "-noout"], input=request.encode(), capture_output=True)
        coster.check(run.returncode == 0, f"{record['id']}: its request does not verify")
        if record["status"] in ("staged", "active", "retiring"):
            coster.check(record["serial_number"] and record["expires_at"], f"{record['id']} is {record['status']} without a certificate")
            token = self.payments.mint(record["registration"], certificate=record["id"])
            opened = self.payments.decrypt(token).expect(200)
            coster.check(opened["certificate"] == record["id"], f"a token for {record['id']} was opened with {opened['certificate']}")

    def decryptions(self):
        for id, token in self.acknowledged.decryptions:
            coster.check(self.payments.get(f"/v1/decryptions/{id}").expect(200)["outcome"] == "success", f"{id} was acknowledged and is not recorded as opened")
            # Its replay mark: another caller is refused, the first one gets it again as a replay.
            self.stranger.decrypt(token).expect_problem(409, "payment_token.replayed")
        for id, token in self.acknowledged.decryptions[-3:]:
            coster.check(self.payments.decrypt(token).expect(200)["replayed"], f"{id} has lost its replay mark")

    def credentials(self):
        def status(credential):
            client = self.service.client(credential)
            answer = client.get("/v1/problems")
            client.close()
            return answer.status
        for credential in self.acknowledged.revoked:
            coster.check(status(credential) == 401, f"{credential['id']} was revoked and works again")
        for credential in self.acknowledged.living:
            coster.check(status(credential) == 200, f"{credential['id']} was made and is lost")
        for old, new in self.acknowledged.rotated:
            coster.check(status(old) == 401 and status(new) == 200, f"{old['id']}: its rotation is lost")


def test(options):
    cycles = options.cycles or (300 if options.long else 15)
    totals = {"certificates": 0, "decryptions": 0, "revocations": 0}
    entries = 0
    chance = random.Random(9)
    with coster.Service(options.binary) as service:
        operator, payments, stranger = (service.credential(role) for role in ("operator", "payment_service", "payment_service"))
        service.start()
        merchant = service.client(operator).make_merchant()
        for cycle in range(cycles):
            acknowledged = Acknowledged()
            workers = [Worker(service, operator, payments, merchant, cycle, index, acknowledged) for index in range(WORKERS)]
            failures = []
            threads = [threading.Thread(target=guarded, args=(worker.run, failures), daemon=True) for worker in workers]
            for thread in threads:
                thread.start()
            # When the power goes is chance, from before the first answer to well under way.
            time.sleep(chance.uniform(0.02, 0.6))
            service.kill()
            for thread in threads:
                thread.join(timeout=60)
            if failures:
                raise failures[0]
            verified = service.verify()
            coster.check(verified["audit_entries"] >= entries, f"the audit trail shrank from {entries} to {verified['audit_entries']} entries")
            entries = verified["audit_entries"]
            service.start()
            try:
                Judge(service, operator, payments, stranger, acknowledged).judge()
            except coster.Failure as failure:
                raise coster.Failure(f"cycle {cycle + 1}: {failure}") from None
            totals["certificates"] += len(acknowledged.certificates)
            totals["decryptions"] += len(acknowledged.decryptions)
            totals["revocations"] += len(acknowledged.revoked)
            if (cycle + 1) % 50 == 0:
                print(f"  {cycle + 1} cycles", flush=True)
        service.stop()
        verified = service.verify()
    # A loop that kills before anything happens would prove nothing.
    coster.check(totals["decryptions"] >= cycles and totals["certificates"] >= cycles, f"too little happened between the kills: {totals}")
    return (f"{cycles} kills; kept: {totals['certificates']} certificates, {totals['decryptions']} decryptions, {totals['revocations']} revocations; "
            f"{verified['keys_opened']} key rows open, {verified['audit_entries']} audit entries chained")


def guarded(body, failures):
    try:
        body()
    except Exception as failure:  # handed to the caller's thread
        failures.append(failure)


if __name__ == "__main__":
    coster.main(test, __doc__, cycles={"nargs": "?", "type": int, "default": None})
