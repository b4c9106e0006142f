"""A crash on purpose leaves no core file and no memory on standard error. Needs a process that may raise its core limit (root)."""

import os
import resource
import signal
from pathlib import Path

import apple
import coster


def allow_core_files():
    hard = resource.getrlimit(resource.RLIMIT_CORE)[1]
    if os.geteuid() == 0:
        hard = resource.RLIM_INFINITY
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))


def test(options):
    canary_number, canary_cryptogram = "4111119876543210", apple.text(b"CANARY-IN-THE-MINE!!")
    with coster.Service(options.binary) as service:
        for number in (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGILL):
            # The environment asks for everything a crash reporter could say; the service must not listen to it.
            service.start(before=allow_core_files, environment={"SWIFT_BACKTRACE": "enable=yes,registers=all,images=all,color=no,output-to=stderr"})
            process = Path(f"/proc/{service.pid}")
            limits = [line for line in (process / "limits").read_text().splitlines() if line.startswith("Max core file size")][0].split()
            coster.check(limits[4:6] == ["0", "0"], f"core files are allowed: {limits}")
            variables = (process / "environ").read_bytes().split(b"\0")
            coster.check(b"SWIFT_BACKTRACE=enable=no" in variables, "the process was not started anew with the crash reporter off")
            operator = service.client(service.credential("operator"))
            credential = service.credential("payment_service")
            payments = service.client(credential)
            identifier = f"merchant.com.example.crash{int(number)}"
            registration = operator.make_registration(operator.make_merchant(), identifier)
            operator.make_certificate(registration, identifier)
            content = {"applicationPrimaryAccountNumber": canary_number, "applicationExpirationDate": "301231", "currencyCode": "840", "transactionAmount": 1,
                       "paymentDataType": "3DSecure", "paymentData": {"onlinePaymentCryptogram": canary_cryptogram}}
            for _ in range(20):
                payments.decrypt(payments.mint(registration, payload=content)).expect(200)
            os.kill(service.pid, number)
            status = service.process.wait(timeout=60)
            service.process = None
            coster.check(status == -number, f"after {number.name} the process ended with status {status}")
            errors = service.errors()
            for needle in (canary_number, canary_cryptogram, credential["api_secret"], "Backtrace", "Registers", "Crash:", "*** Signal"):
                coster.check(needle not in errors, f"after {number.name} standard error holds {needle!r}")
            cores = [path.name for path in service.folder.rglob("*core*") if path.is_file()]
            coster.check(not cores, f"after {number.name} there are core files: {cores}")
        service.verify()
    return "SIGSEGV, SIGABRT, SIGBUS, SIGILL: no core file, no crash report, no canary; the data verifies"


if __name__ == "__main__":
    coster.main(test, __doc__)
