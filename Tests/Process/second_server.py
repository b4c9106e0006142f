"""A second server on the same data directory is refused, and the first goes on; other commands work beside it."""

import coster


def test(options):
    with coster.Service(options.binary) as service:
        service.start()
        second = service.run("serve", "--listen", "127.0.0.1:0")
        second.expect_refusal("database.locked_by_other_server")
        coster.check(str(service.pid) in second.errors, f"the refusal does not name the process that serves: {second.errors}")
        service.client().get("/healthz").expect(200)
        service.credential("operator")
        service.verify()
        coster.check(service.stop() == 0, "the first server did not end with status 0")
        # The lock goes with the process, however that ends.
        service.start()
        service.kill()
        service.start()
        service.client().get("/healthz").expect(200)
        again = service.run("init")
        again.expect_refusal("configuration.data_directory_exists")
    return "the second server was refused with its cause; the first, verify and credentials worked on; the lock survived neither SIGTERM nor SIGKILL"


if __name__ == "__main__":
    coster.main(test, __doc__)
