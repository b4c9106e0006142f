#!/usr/bin/env python3
"""Writes the first inputs of every fuzz target: `seeds.py FOLDER` makes FOLDER/<target>/… anew.

Needs the openssl command. Takes what it can from the vectors made by others (`COSTER_VECTORS`, or `shared/vectors` beside the checkout) and makes the rest
itself, so that a checkout alone fuzzes too.
"""

import base64
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
VECTORS = Path(os.environ.get("COSTER_VECTORS") or CHECKOUT.parent / "shared" / "vectors")

GET = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
POST = b"POST /v1/decryptions HTTP/1.1\r\nHost: localhost:8443\r\nContent-Type: application/json\r\nContent-Length: 11\r\n\r\n{\"token\":1}"
CHUNKED = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n"
REQUESTS = [
    GET, POST, CHUNKED, GET + POST + CHUNKED,
    b"HEAD /readyz?x=1 HTTP/1.1\r\nHost: [::1]:8443\r\nConnection: close\r\nExpect: 100-continue\r\n\r\n",
    b"GET / HTTP/1.0\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1;x=y\r\na\r\n0\r\nTrailer: x\r\n\r\n",
    b"GET / HTTP/1.1\nHost: a\n\n",
    b"GET / HTTP/1.1\r\nHost: a\r\nX : y\r\n folded\r\n\r\n",
]
JSON = [
    b'{"a":[1,2.5e-3,-0,true,false,null,"\\u00e9\\ud83d\\ude00\\n"],"b":{"c":{}}}', b'{"a":1,"a":2}', b"[[[[[[[[]]]]]]]]", b'"text"', b"1e400", b'"\\ud800"',
]
MULTIPART = [
    b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.p12"\r\nContent-Type: application/x-pkcs12\r\n\r\n0\x82\x01\r\n--b\r\n'
    b'Content-Disposition: form-data; name="password"\r\n\r\ntest\r\n--b--\r\n',
    b"--b\r\n\r\n\r\n--b--",
]


class Seeds:
    def __init__(self, folder):
        self.folder = folder
        self.counts = {}

    def add(self, target, *inputs):
        where = self.folder / target
        where.mkdir(parents=True, exist_ok=True)
        for content in inputs:
            if len(content) <= 16384:
                (where / hashlib.sha256(content).hexdigest()[:24]).write_bytes(content)
        self.counts[target] = len(list(where.iterdir()))


def tokens(folder):
    """The token files among the vectors, as bytes."""
    for path in sorted([*folder.glob("*/*.token.json"), *folder.glob("minted/tokens/*.json")]):
        if path.name != "expected.json":
            yield path.read_bytes()


def payment_data(token):
    try:
        value = json.loads(token)
        return value.get("paymentData", value) if isinstance(value, dict) else {}
    except (ValueError, RecursionError):
        return {}


def from_vectors(seeds):
    for token in tokens(VECTORS):
        dressed = json.dumps(token.decode("utf-8", "replace")).encode()
        seeds.add("PaymentToken", token, base64.b64encode(token), dressed)
        seeds.add("JSON", token)
        inner = payment_data(token)
        if isinstance(inner, dict) and isinstance(inner.get("signature"), str):
            try:
                seeds.add("CMS", base64.b64decode(inner["signature"]))
            except ValueError:
                pass
    for plaintext in VECTORS.glob("*/*.plaintext.json"):
        seeds.add("JSON", plaintext.read_bytes())
    files = [path for pattern in ("*.cer", "*.pem", "*.crt", "*.csr", "*.certSigningRequest", "*.p7b") for path in VECTORS.rglob(pattern)]
    for path in sorted(files):
        content = path.read_bytes()
        seeds.add("CertificateFile", content, base64.b64encode(content))
    for path in sorted(VECTORS.rglob("*.p12")):
        seeds.add("PKCS12File", path.read_bytes())
        seeds.add("CertificateFile", path.read_bytes())


def from_openssl(seeds):
    """A certificate, a request, `.p12` files of one or two iterations, and a detached signature, of a key made for this."""
    with tempfile.TemporaryDirectory() as folder:
        def openssl(*arguments):
            return subprocess.run(["openssl", *arguments], cwd=folder, capture_output=True, check=True).stdout

        subject = "/UID=merchant.com.example.fuzz/CN=Apple Pay Payment Processing:merchant.com.example.fuzz/OU=TEAM000000/O=Example/C=US"
        openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", "key.pem")
        openssl("req", "-x509", "-key", "key.pem", "-subj", subject, "-days", "30", "-out", "cert.pem",
                "-addext", "1.2.840.113635.100.6.32=ASN1:UTF8String:" + hashlib.sha256(b"merchant.com.example.fuzz").hexdigest().upper())
        request = openssl("req", "-new", "-key", "key.pem", "-subj", subject)
        certificate = Path(folder, "cert.pem").read_bytes()
        der = openssl("x509", "-in", "cert.pem", "-outform", "DER")
        seeds.add("CertificateFile", certificate, der, base64.b64encode(der), request, b"\xef\xbb\xbf" + certificate.replace(b"\n", b"\r\n"),
                  "".join(chr(byte) for byte in certificate).encode("utf-16"), Path(folder, "key.pem").read_bytes(),
                  openssl("crl2pkcs7", "-nocrl", "-certfile", "cert.pem", "-outform", "DER"))
        for profile in ([], ["-descert"], ["-keypbe", "NONE", "-certpbe", "NONE"], ["-nomac"], ["-nokeys"], ["-nocerts"],
                        ["-legacy"], ["-keypbe", "PBE-SHA1-3DES", "-certpbe", "PBE-SHA1-3DES", "-macalg", "SHA1"]):
            seeds.add("PKCS12File", openssl("pkcs12", "-export", "-inkey", "key.pem", "-in", "cert.pem", "-passout", "pass:test", "-iter", "2", *profile))
        Path(folder, "content").write_bytes(b"content")
        for form in ([], ["-indef"], ["-nodetach"], ["-noattr"]):
            seeds.add("CMS", openssl("cms", "-sign", "-binary", "-in", "content", "-signer", "cert.pem", "-inkey", "key.pem", "-md", "sha256", "-outform", "DER", *form))


def main():
    folder = Path(sys.argv[1])
    shutil.rmtree(folder, ignore_errors=True)
    seeds = Seeds(folder)
    seeds.add("HTTPRequest", *(bytes(8) + request for request in REQUESTS))
    seeds.add("JSON", *JSON)
    seeds.add("Multipart", *MULTIPART)
    seeds.add("PaymentToken", b'{"version":"EC_v1","data":"AAAA","signature":"AAAA","header":{"ephemeralPublicKey":"AAAA","publicKeyHash":"AAAA","transactionId":"00"}}')
    from_openssl(seeds)
    if VECTORS.is_dir():
        from_vectors(seeds)
    else:
        print("seeds: no shared vectors; fuzzing starts from what openssl makes", file=sys.stderr)
    print("seeds: " + ", ".join(f"{target} {count}" for target, count in sorted(seeds.counts.items())))


if __name__ == "__main__":
    main()
