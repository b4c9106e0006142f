"""CSRs, certificates and tokens that the openssl command has a hand in: the requests verify there, and what is made there is taken and opened."""

import subprocess

import apple
import coster


def public_key_of(request):
    return coster.openssl("req", "-noout", "-pubkey", stdin=request.encode()).decode()


def test(options):
    with coster.Service(options.binary) as service:
        authority = apple.Authority(service.folder / "authority")
        service.start("--trust-anchor", authority.root)
        operator = service.client(service.credential("operator"))
        payments = service.client(service.credential("payment_service"))
        merchant = operator.make_merchant()
        identifier = "merchant.com.example.openssl"
        registration = operator.make_registration(merchant, identifier)

        # Both kinds of request, as PEM and as DER, verify; the subject says whose they are.
        for algorithm in ("ec_p256", "rsa_2048"):
            record = operator.make_request(registration, algorithm)
            pem = operator.signing_request(record["id"])
            der = operator.request("GET", f"/v1/certificates/{record['id']}/certificate-signing-request", headers={"Accept": "application/pkcs10"}).expect(200)
            for content, form in ((pem.encode(), "PEM"), (der, "DER")):
                run = subprocess.run(["openssl", "req", "-verify", "-noout", "-subject", "-inform", form], input=content, capture_output=True)
                coster.check(run.returncode == 0 and b"OK" in run.stderr + run.stdout, f"openssl does not accept the {algorithm} request: {run.stderr.decode()}")
                coster.check(identifier.encode() in run.stdout, f"the {algorithm} request does not name its identifier: {run.stdout.decode()}")
            # Another CA tool, Apple's form of subject, nothing of the request's: the public key alone finds the request.
            certificate = authority.processing_certificate(public_key_of(pem), identifier)
            uploaded = operator.upload(registration, certificate).expect(200)
            coster.check((uploaded["id"], uploaded["status"]) == (record["id"], "staged"), f"the certificate did not find its request: {uploaded}")
            if algorithm == "ec_p256":
                public_key = public_key_of(pem)

        content = apple.payment_data()
        for indefinite in (True, False):
            token = authority.token(public_key, identifier, content, indefinite=indefinite)
            answer = payments.decrypt(token)
            answer.expect(200)
            coster.check(content in answer.body, "payment_data is not Apple's own bytes")
        coster.check(answer.json["network_token"]["last4"] == "1234" and answer.json["transaction"]["amount"] == "12.50", f"read wrongly: {answer.json}")

        # Made for another identifier: the key is right, the derivation is not.
        payments.decrypt(authority.token(public_key, "merchant.com.example.other", content)).expect_problem(422, "payment_token.undecryptable")
        # A chain that looks the same and ends elsewhere.
        stranger = apple.Authority(service.folder / "stranger")
        payments.decrypt(stranger.token(public_key, identifier, content)).expect_problem(422, "signature.untrusted_root")
        # The anchor given by flag is the sandbox's alone.
        production = service.client(service.credential("operator", "--environment", "production"))
        production_payments = service.client(service.credential("payment_service", "--environment", "production"))
        registration = production.post("/v1/merchant-identifiers", {"identifier": identifier, "merchant": merchant, "environment": "production"}).expect(201)["id"]
        pem = production.signing_request(production.make_request(registration)["id"])
        production.upload(registration, authority.processing_certificate(public_key_of(pem), identifier)).expect_problem(422, "certificate.not_from_apple")
        production_payments.decrypt(token).expect_problem(422, "payment_token.key_unknown")
        service.stop()
        service.verify()
    return "openssl verifies our requests; its certificates find them by key; its tokens open byte for byte, and the strangers' do not"


if __name__ == "__main__":
    coster.main(test, __doc__)
