"""SIGTERM: what is under way is answered, what comes after is not taken, and the process ends with status 0."""

import os
import signal
import socket
import sqlite3
import threading

import coster


def test(options):
    with coster.Service(options.binary) as service:
        service.start()
        operator = service.client(service.credential("operator"))
        credential = service.credential("payment_service")
        payments = service.client(credential)
        registration = operator.make_registration(operator.make_merchant(), "merchant.com.example.drain")
        operator.make_certificate(registration, "merchant.com.example.drain")
        tokens = [payments.mint(registration) for _ in range(4)]
        payments.decrypt(payments.mint(registration)).expect(200)

        # Another process's write lock holds the decryptions back, so that they are under way for certain when the signal comes.
        blocker = sqlite3.connect(service.data / "coster.db", isolation_level=None)
        blocker.execute("BEGIN IMMEDIATE")
        answers = [None] * len(tokens)
        clients = [service.client(credential) for _ in tokens]
        for client in clients:
            client.get("/healthz").expect(200)

        def decrypt(index):
            answers[index] = clients[index].decrypt(tokens[index])

        threads = [threading.Thread(target=decrypt, args=(index,), daemon=True) for index in range(len(tokens))]
        for thread in threads:
            thread.start()
        # They are in the server's hands once the request was sent whole; then the listener goes.
        coster.wait_until(lambda: all(client.connection is not None and client.connection.sock is not None for client in clients), 5, "sending")
        threading.Event().wait(0.3)
        os.kill(service.pid, signal.SIGTERM)
        coster.wait_until(lambda: refuses(service.port), 10, "the end of listening")
        blocker.execute("ROLLBACK")
        blocker.close()
        for thread in threads:
            thread.join(timeout=30)
        for index, answer in enumerate(answers):
            coster.check(answer is not None, f"decryption {index} under way at SIGTERM got no answer")
            answer.expect(200)
            coster.check(answer.headers.get("connection", "").lower() == "close", "an answer during the drain leaves the connection open")
        status = service.process.wait(timeout=60)
        service.process = None
        coster.check(status == 0, f"the service ended with status {status}")
        service.start()
        for token in tokens:
            coster.check(service.client(credential).decrypt(token).expect(200)["replayed"], "an answered decryption left no mark")
        service.stop()
        service.verify()
    return f"{len(tokens)} decryptions under way at SIGTERM were answered and recorded, new connections refused, status 0"


def refuses(port):
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
        return False
    except OSError:
        return True


if __name__ == "__main__":
    coster.main(test, __doc__)
