"""5,000 idle TLS connections beside working clients; with --long also slow senders, against the real deadlines. The request table is in HTTPServer's tests."""

import resource
import socket
import ssl
import time
from pathlib import Path

import coster

IDLE = 5000
# Kind of slowness, what is sent first, what is then sent one byte every 2 s, and when the connection must be closed at the latest, in seconds.
SLOW = [
    ("handshake", None, b"\x16", 5),
    ("head", b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n", b"X", 10),
    ("body", b"POST /v1/decryptions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n", b" ", 15),
    ("idle", b"", b"", 60),
]


def resident(pid):
    return int(next(line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if line.startswith("VmRSS")).split()[1])


def test(options):
    wanted = IDLE + 200
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < wanted:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, wanted))
        except (ValueError, OSError):
            raise coster.NotTested(f"{IDLE} connections need {wanted} open files; this process may have {hard}") from None
    else:
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    with coster.Service(options.binary) as service:
        service.start()
        operator = service.client(service.credential("operator"))
        credential = service.credential("payment_service")
        payments = service.client(credential)
        registration = operator.make_registration(operator.make_merchant(), "merchant.com.example.idle")
        operator.make_certificate(registration, "merchant.com.example.idle")
        tokens = [payments.mint(registration) for _ in range(400)]
        before = resident(service.pid)
        idle = [[] for _ in range(8)]

        def connect(index):
            for _ in range(IDLE // len(idle)):
                raw = socket.create_connection(("127.0.0.1", service.port), timeout=30)
                idle[index].append(service.tls.wrap_socket(raw, server_hostname="127.0.0.1"))

        began = time.monotonic()
        coster.parallel(len(idle), connect)
        connected = time.monotonic() - began
        per_connection = (resident(service.pid) - before) / IDLE

        def work(index):
            client = service.client(credential)
            for token in tokens[index::4]:
                client.decrypt(token).expect(200)
            client.close()

        coster.parallel(4, work)
        # Every one of them still works: each tenth is asked (those younger than the idle deadline; opening took less).
        lists = [connection for part in idle for connection in part]
        if connected < 40:
            for connection in lists[-1::-IDLE // 50]:
                connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
                coster.check(connection.recv(64).startswith(b"HTTP/1.1 200"), "an idle connection does not answer any more")
        for connection in lists:
            connection.close()
        slow = f"; {slow_senders(service, credential)}" if options.long else ""
        service.client(credential).get("/healthz").expect(200)
        service.stop()
    return f"{IDLE} idle TLS connections ({per_connection:.0f} kB each), {len(tokens)} decryptions beside them{slow}"


def slow_senders(service, credential):
    measured = []

    def send(index):
        kind, first, drop, deadline = SLOW[index]
        connection = socket.create_connection(("127.0.0.1", service.port), timeout=10)
        began = time.monotonic()
        if first is not None:
            connection = service.tls.wrap_socket(connection, server_hostname="127.0.0.1")
            began = time.monotonic()
            connection.sendall(first.replace(b"%s", credential["credential"].encode()))
        connection.settimeout(2)
        while True:
            try:
                if drop:
                    connection.sendall(drop)
                if not connection.recv(4096):
                    break
            except TimeoutError:
                pass
            except (ssl.SSLError, OSError):
                break
            coster.check(time.monotonic() - began < deadline + 5, f"a slow {kind} is still open after {deadline + 5} s")
        took = time.monotonic() - began
        coster.check(took > deadline - 2, f"a slow {kind} was closed after {took:.1f} s, long before its deadline of {deadline} s")
        measured.append(f"{kind} {took:.0f} s")

    coster.parallel(len(SLOW), send)
    return "slow senders closed: " + ", ".join(sorted(measured))


if __name__ == "__main__":
    coster.main(test, __doc__)
