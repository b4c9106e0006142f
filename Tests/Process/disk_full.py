"""A full disk: 503, nothing released, nothing half written; as soon as there is room, payments go on without a restart. Needs root, to mount a small tmpfs."""

import os
import subprocess
import tempfile
from pathlib import Path

import coster


def test(options):
    if os.geteuid() != 0:
        raise coster.NotTested("only root can mount the small disk that this fills")
    folder = Path(tempfile.mkdtemp(prefix="coster-disk-"))
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6m,mode=0700", "tmpfs", folder], capture_output=True, text=True)
    if mounted.returncode != 0:
        folder.rmdir()
        raise coster.NotTested(f"no tmpfs can be mounted here: {mounted.stderr.strip()}")
    try:
        with coster.Service(options.binary, folder) as service:
            return fill(service)
    finally:
        subprocess.run(["umount", folder], check=True)
        folder.rmdir()


def fill(service):
    service.start()
    operator = service.client(service.credential("operator"))
    credential = service.credential("payment_service")
    payments = service.client(credential)
    registration = operator.make_registration(operator.make_merchant(), "merchant.com.example.disk")
    operator.make_certificate(registration, "merchant.com.example.disk")
    payments.decrypt(payments.mint(registration)).expect(200)
    tokens = [payments.mint(registration) for _ in range(200)]

    ballast = service.folder / "ballast"
    with open(ballast, "wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            pass
    # What SQLite has room for inside its files may still go in; then nothing does.
    refused, opened = [], []
    for token in tokens:
        answer = payments.decrypt(token)
        if answer.status == 200:
            opened.append(token)
            continue
        problem = answer.expect_problem(503, "database.unavailable")
        coster.check(problem["retryable"] is True and "retry-after" in answer.headers, f"503 without retryable or Retry-After: {problem}")
        coster.check(b"applicationPrimaryAccountNumber" not in answer.body, "content was released without its audit entry")
        refused.append(token)
        if len(refused) == 20:
            break
    coster.check(len(refused) >= 10, f"the disk is full and only {len(refused)} decryptions were refused")
    operator.post("/v1/merchants", {"name": "No room"}).expect_problem(503, "database.unavailable")
    operator.get("/v1/merchants").expect(200)

    ballast.unlink()
    for token in refused:
        coster.check(not payments.decrypt(token).expect(200)["replayed"], "a refused decryption left a mark")
    for token in opened:
        coster.check(payments.decrypt(token).expect(200)["replayed"], "an opened decryption left no mark")
    service.stop()
    service.verify()
    return f"{len(refused)} decryptions refused with 503 on a full disk and opened once there was room; {len(opened)} that still fitted are all recorded"


if __name__ == "__main__":
    coster.main(test, __doc__)
