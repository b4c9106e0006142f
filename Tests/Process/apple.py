"""Plays Apple by the openssl command alone: a root, an intermediate and a signer with Apple's markers, certificates for requests, and payment tokens.

Written from Apple's description and not from the code under test, so that both can't share a mistake.
"""

import base64
import hashlib
import json
import secrets
import subprocess
import time
from pathlib import Path

from coster import openssl

LEAF_MARKER = "1.2.840.113635.100.6.29"
INTERMEDIATE_MARKER = "1.2.840.113635.100.6.2.14"
MERCHANT_HASH = "1.2.840.113635.100.6.32"


class Authority:
    """A chain shaped like Apple's. `root` is what `--trust-anchor` takes."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.root = self._make("root", "secp384r1", "/CN=Test Root CA - G3/O=Example", None, ["basicConstraints=critical,CA:TRUE", "keyUsage=critical,keyCertSign,cRLSign"])
        self._make("intermediate", "prime256v1", "/CN=Test Application Integration CA - G3/O=Example", "root",
                   ["basicConstraints=critical,CA:TRUE,pathlen:0", "keyUsage=critical,keyCertSign,cRLSign", f"{INTERMEDIATE_MARKER}=ASN1:NULL"])
        self._make("leaf", "prime256v1", "/CN=ecc-smp-broker-sign_TEST-SANDBOX/OU=iOS Systems/O=Example", "intermediate",
                   ["basicConstraints=critical,CA:FALSE", "keyUsage=critical,digitalSignature", f"{LEAF_MARKER}=ASN1:NULL"])
        self._make("wwdr", "prime256v1", "/CN=Test Worldwide Developer Relations CA - G2/O=Example", "root",
                   ["basicConstraints=critical,CA:TRUE,pathlen:0", "keyUsage=critical,keyCertSign,cRLSign"])

    def _path(self, name):
        return self.folder / name

    def _make(self, name, curve, subject, issuer, extensions, public_key=None):
        """A certificate: for a new key, or for somebody else's public key."""
        self._path(f"{name}.cnf").write_text("[x]\nsubjectKeyIdentifier=hash\n" + ("authorityKeyIdentifier=keyid\n" if issuer else "") + "\n".join(extensions) + "\n")
        arguments = ["x509", "-new", "-subj", subject, "-days", "750", "-sha256", "-extfile", self._path(f"{name}.cnf"), "-extensions", "x",
                     "-set_serial", "0x" + secrets.token_hex(7), "-out", self._path(f"{name}.pem")]
        if public_key:
            arguments += ["-force_pubkey", public_key]
        else:
            openssl("ecparam", "-name", curve, "-genkey", "-noout", "-out", self._path(f"{name}.key"))
            openssl("pkey", "-in", self._path(f"{name}.key"), "-pubout", "-out", self._path(f"{name}.pub"))
            arguments += ["-force_pubkey", self._path(f"{name}.pub")]
        if issuer:
            arguments += ["-CA", self._path(f"{issuer}.pem"), "-CAkey", self._path(f"{issuer}.key")]
        else:
            arguments += ["-signkey", self._path(f"{name}.key")]
        openssl(*arguments)
        return self._path(f"{name}.pem")

    def processing_certificate(self, public_key, identifier):
        """Apple's form of subject and extensions for a public key (PEM), and nothing of any request's: DER, as Apple delivers it."""
        key = self._path(f"{secrets.token_hex(4)}.pub")
        key.write_text(public_key)
        subject = f"/UID={identifier}/CN=Apple Pay Payment Processing:{identifier}/OU=TEAM000000/O=Example/C=US"
        value = hashlib.sha256(identifier.encode()).hexdigest().upper()
        certificate = self._make(f"processing-{secrets.token_hex(4)}", None, subject, "wwdr",
                                 ["basicConstraints=critical,CA:FALSE", "keyUsage=critical,keyEncipherment,keyAgreement", f"{MERCHANT_HASH}=ASN1:UTF8String:{value}"], key)
        return openssl("x509", "-in", certificate, "-outform", "DER")

    def token(self, public_key, identifier, content, *, indefinite=True):
        """An EC_v1 token for a public key (PEM), signed now."""
        recipient, ephemeral = self._path(f"{secrets.token_hex(4)}.pub"), self._path(f"{secrets.token_hex(4)}.key")
        recipient.write_text(public_key)
        openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", ephemeral)
        shared = openssl("pkeyutl", "-derive", "-inkey", ephemeral, "-peerkey", recipient)
        key = hashlib.sha256(bytes([0, 0, 0, 1]) + shared + b"\x0did-aes256-GCM" + b"Apple" + hashlib.sha256(identifier.encode()).digest()).digest()
        data = seal(key, content)
        spki = openssl("pkey", "-in", ephemeral, "-pubout", "-outform", "DER")
        transaction = secrets.token_bytes(32)
        signature = self._sign(spki + data + transaction, indefinite)
        hash_of_key = hashlib.sha256(openssl("pkey", "-pubin", "-in", recipient, "-pubout", "-outform", "DER")).digest()
        return {"paymentData": {
            "version": "EC_v1", "data": text(data), "signature": text(signature),
            "header": {"ephemeralPublicKey": text(spki), "publicKeyHash": text(hash_of_key), "transactionId": transaction.hex()}},
            "paymentMethod": {"displayName": "Visa 1234", "network": "Visa", "type": "debit"}, "transactionIdentifier": transaction.hex().upper()}

    def _sign(self, content, indefinite):
        der = openssl("cms", "-sign", "-binary", "-nosmimecap", "-md", "sha256", "-signer", self._path("leaf.pem"), "-inkey", self._path("leaf.key"),
                      "-certfile", self._path("intermediate.pem"), "-outform", "DER", stdin=content)
        return with_indefinite_lengths(der) if indefinite else der


def with_indefinite_lengths(der):
    """The outer layers of a CMS as Apple writes them: ContentInfo, its [0] and SignedData with indefinite lengths, zeros at the end."""
    def content(element):
        """What is inside an element, and what follows it."""
        length, start = element[1], 2
        if length >= 0x80:
            start += length - 0x80
            length = int.from_bytes(element[2:start], "big")
        return element[start:start + length], element[start + length:]

    info, _ = content(der)
    object_identifier = info[:2 + info[1]]
    signed_data, _ = content(content(info[len(object_identifier):])[0])
    return b"\x30\x80" + object_identifier + b"\xa0\x80\x30\x80" + signed_data + bytes(6)


def text(content):
    return base64.b64encode(content).decode()


def seal(key, plaintext):
    """AES-256-GCM with a nonce of 16 zero bytes: openssl makes the AES blocks, the field arithmetic of GHASH is here (NIST SP 800-38D)."""
    def blocks(content):
        return subprocess.run(["openssl", "enc", f"-aes-{len(key) * 8}-ecb", "-nopad", "-K", key.hex()], input=content, capture_output=True, check=True).stdout

    h = int.from_bytes(blocks(bytes(16)), "big")

    def multiply(x, y):
        product = 0
        for bit in range(127, -1, -1):
            if x >> bit & 1:
                product ^= y
            y = y >> 1 ^ (0xE1 << 120 if y & 1 else 0)
        return product

    def ghash(content):
        value = 0
        for start in range(0, len(content), 16):
            value = multiply(value ^ int.from_bytes(content[start:start + 16], "big"), h)
        return value

    def padded(content):
        return content + bytes(-len(content) % 16)

    first = ghash(bytes(16) + bytes(8) + (128).to_bytes(8, "big"))
    count = (len(plaintext) + 15) // 16
    counters = [first >> 32 << 32 | (first + step) % (1 << 32) for step in range(count + 1)]
    stream = blocks(b"".join(counter.to_bytes(16, "big") for counter in counters))
    ciphertext = bytes(a ^ b for a, b in zip(plaintext, stream[16:]))
    tag = ghash(padded(ciphertext) + bytes(8) + (len(ciphertext) * 8).to_bytes(8, "big")) ^ int.from_bytes(stream[:16], "big")
    return ciphertext + tag.to_bytes(16, "big")


def payment_data(number="4111110000001234", cryptogram=None, amount=1250):
    """A 3-D Secure content in Apple's order of members."""
    return json.dumps({
        "applicationPrimaryAccountNumber": number, "applicationExpirationDate": time.strftime("%y1231", time.gmtime(time.time() + 3 * 365 * 86400)),
        "currencyCode": "978", "transactionAmount": amount, "deviceManufacturerIdentifier": "040010030273", "paymentDataType": "3DSecure",
        "paymentData": {"onlinePaymentCryptogram": cryptogram or text(secrets.token_bytes(20)), "eciIndicator": "7"}}, separators=(",", ":")).encode()
