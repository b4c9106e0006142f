"""A root key that doesn't fit stops the start and names both fingerprints; a missing one starts sealed; neither changes a byte of what is stored."""

import hashlib
import re
import secrets
import sqlite3

import coster

FINGERPRINT = re.compile(r"\b[0-9a-f]{64}\b")


def content(service):
    """What is stored, row by row: the files themselves may differ by a checkpoint."""
    with sqlite3.connect(f"file:{service.data / 'coster.db'}?mode=ro", uri=True) as database:
        tables = [row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")]
        digest = hashlib.sha256()
        for table in tables:
            for row in sorted(repr(row) for row in database.execute(f'SELECT * FROM "{table}"')):
                digest.update(row.encode())
        return digest.hexdigest()


def test(options):
    with coster.Service(options.binary) as service:
        root_key = service.data / "root.key"
        service.start()
        operator = service.client(service.credential("operator"))
        payments = service.client(service.credential("payment_service"))
        merchant = operator.make_merchant()
        registration = operator.make_registration(merchant, "merchant.com.example.root")
        operator.make_certificate(registration, "merchant.com.example.root")
        token = payments.mint(registration)
        payments.decrypt(token).expect(200)
        service.stop()
        right, before = root_key.read_text(), content(service)

        root_key.write_text(secrets.token_hex(32) + "\n")
        refused = service.run("serve", "--listen", "127.0.0.1:0").expect_refusal("custody.root_key_mismatch")
        coster.check(len(set(FINGERPRINT.findall(refused.errors))) >= 2, f"both fingerprints are not named: {refused.errors}")
        for command in (["credentials", "create", "--role", "operator"], ["verify"]):
            service.run(*command).expect_refusal("custody.root_key_mismatch")

        root_key.write_text("not a key\n")
        service.run("serve", "--listen", "127.0.0.1:0").expect_refusal("custody.root_key_malformed")

        root_key.unlink()
        service.start()
        client = service.client(payments.credential)
        client.get("/healthz").expect(200)
        sealed = client.decrypt(token).expect_problem(423, "custody.sealed")
        coster.check(FINGERPRINT.search(str(sealed.get("context"))), f"the sealed service does not say which root key it needs: {sealed}")
        client.get("/readyz").expect(503, 423)
        service.stop()
        coster.check(content(service) == before, "something stored changed while the root key was wrong or missing")

        root_key.write_text(right)
        service.start()
        coster.check(service.client(payments.credential).decrypt(token).expect(200)["replayed"], "the token opened before did not open as a replay after")
        service.stop()
        service.verify()
    return "wrong: refused with both fingerprints; damaged: refused; missing: 423 with the fingerprint needed; nothing stored changed; put back: all opens"


if __name__ == "__main__":
    coster.main(test, __doc__)
