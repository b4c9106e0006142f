"""The five real tokens with published keys open through the service, byte for byte, from `.p12` files made of those keys."""

import json

import coster

# Folder/name, merchant identifier.
TOKENS = [
    ("spreedly-gala/seatgeek-2014", "merchant.com.seatgeek.SeatGeek"), ("spreedly-gala/spreedly-2021", "merchant.test.spreedly.123merchant"),
    ("sepuka/iqoption-sandbox-2019", "merchant.com.trading.iqoption.test"), ("basis-theory/ec-old", "merchant.basistheory.sales"),
    ("basis-theory/ec-new", "merchant.basistheory.sales"),
]


def test(options):
    if not coster.VECTORS.is_dir():
        raise coster.NotTested(f"{len(TOKENS)} real tokens: no shared vectors (set COSTER_VECTORS)")
    with coster.Service(options.binary) as service:
        service.start()
        operator = service.client(service.credential("operator"))
        payments = service.client(service.credential("payment_service"))
        merchant = operator.make_merchant()
        registrations = {}
        for name, identifier in TOKENS:
            if identifier not in registrations:
                registrations[identifier] = operator.make_registration(merchant, identifier, max_token_age_seconds=None)
            path = coster.VECTORS / name
            p12 = coster.openssl("pkcs12", "-export", "-inkey", f"{path}.key.pem", "-in", f"{path}.cert.pem", "-passout", "pass:import")
            record = operator.upload(registrations[identifier], p12, "import").expect(201)
            coster.check({"expired", "key_made_elsewhere"} <= set(record["flags"]), f"{name}: flags are {record['flags']}")
        for name, identifier in TOKENS:
            token = json.loads((coster.VECTORS / f"{name}.token.json").read_bytes())
            plaintext = (coster.VECTORS / f"{name}.plaintext.json").read_bytes()
            answer = payments.decrypt(token)
            coster.check(answer.expect(200)["merchant_identifier"] == identifier, f"{name}: opened for another identifier")
            coster.check(b'"payment_data":' + plaintext in answer.body, f"{name}: payment_data is not the plaintext byte for byte")
            again = payments.decrypt(json.dumps(token), merchant_identifier=identifier).expect(200)
            coster.check(again["replayed"], f"{name}: the second time does not say so")
        service.stop()
        service.verify()
    return f"{len(TOKENS)} real tokens opened byte for byte, an old and a new key of one identifier among them"


if __name__ == "__main__":
    coster.main(test, __doc__)
