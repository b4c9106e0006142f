#ifndef COSTER_CLIBEVENT_SHIM_H
#define COSTER_CLIBEVENT_SHIM_H
// libevent with libssl, and the calls Swift cannot see, each as one static inline function.
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <event2/thread.h>
#include <event2/util.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#endif
