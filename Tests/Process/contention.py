"""Another process holds the database's write lock: for 2 s requests wait and succeed; for longer they get 503, and nothing is released."""

import sqlite3
import threading

import coster


class Lock:
    """Another process's `BEGIN IMMEDIATE`, for so many seconds."""

    def __init__(self, service, seconds):
        self.connection = sqlite3.connect(service.data / "coster.db", isolation_level=None, check_same_thread=False)
        self.connection.execute("BEGIN IMMEDIATE")
        self.timer = threading.Timer(seconds, self.release)
        self.timer.start()

    def release(self):
        self.connection.execute("ROLLBACK")
        self.connection.close()

    def wait(self):
        self.timer.join()


def test(options):
    with coster.Service(options.binary) as service:
        service.start()
        operator = service.client(service.credential("operator"))
        credential = service.credential("payment_service")
        payments = service.client(credential)
        registration = operator.make_registration(operator.make_merchant(), "merchant.com.example.contention")
        record = operator.make_certificate(registration, "merchant.com.example.contention")
        payments.decrypt(payments.mint(registration)).expect(200)
        tokens = [payments.mint(registration) for _ in range(9)]

        lock = Lock(service, 2)
        coster.parallel(8, lambda index: service.client(credential).decrypt(tokens[index]).expect(200))
        lock.wait()

        lock = Lock(service, 9)
        busy = payments.decrypt(tokens[8])
        problem = busy.expect_problem(503, "database.busy")
        coster.check(problem["retryable"] is True and "retry-after" in busy.headers, f"503 without retryable or Retry-After: {problem} {busy.headers}")
        coster.check(b"applicationPrimaryAccountNumber" not in busy.body, "content was released without its audit entry")
        operator.get(f"/v1/certificates/{record['id']}").expect(200)  # readers do not wait for writers
        lock.wait()
        coster.check(not payments.decrypt(tokens[8]).expect(200)["replayed"], "the refused decryption left a mark")
        service.stop()
        service.verify()
    return "2 s: eight decryptions waited and were opened; 9 s: 503 with Retry-After and nothing released, reads went on; then all opens"


if __name__ == "__main__":
    coster.main(test, __doc__)
