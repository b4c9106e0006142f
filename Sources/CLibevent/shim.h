#ifndef COSTER_CLIBEVENT_SHIM_H
#define COSTER_CLIBEVENT_SHIM_H
// libevent with libssl, and the calls Swift cannot see, each as one static inline function.
#include <errno.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <event2/util.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/// TLS 1.2 and 1.3 with AEAD and forward secrecy only, no renegotiation, no compression, buffers freed while idle, one read per record.
/// Options and modes are macros. A write that is tried again may come from another address: the output buffer moves when it grows.
static inline int coster_ssl_ctx_restrict(SSL_CTX *context) {
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_read_ahead(context, 1);
    return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION)
        && SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20")
        && SSL_CTX_set1_groups_list(context, "X25519:P-256:P-384");
}

/// Sessions live in tickets alone, whose keys all loops share because the context is one; nothing is kept on our side. A macro.
static inline void coster_ssl_ctx_use_tickets_only(SSL_CTX *context) {
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
}

/// A macro. Takes over the reference to `certificate` on success.
static inline int coster_ssl_ctx_add_chain_certificate(SSL_CTX *context, X509 *certificate) {
    return (int)SSL_CTX_add0_chain_cert(context, certificate);
}

/// Whether the first error of this thread's queue says that a client spoke plain HTTP to a TLS port. The reason is packed by macros.
static inline int coster_ssl_error_is_plain_http(void) {
    unsigned long code = ERR_peek_error();
    return ERR_GET_LIB(code) == ERR_LIB_SSL && ERR_GET_REASON(code) == SSL_R_HTTP_REQUEST;
}

/// Raises the limit on open files as far as `wanted` where the hard limit allows it, and gives the limit that holds now. The resource's type is
/// an enum in C and an integer in C++, which Swift reads in neither way.
static inline long coster_raise_open_file_limit(long wanted) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return -1;
    if (limit.rlim_cur < (rlim_t)wanted) {
        struct rlimit raised = limit;
        raised.rlim_cur = limit.rlim_max < (rlim_t)wanted ? limit.rlim_max : (rlim_t)wanted;
        if (setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
    }
    return limit.rlim_cur > (rlim_t)1 << 30 ? (long)1 << 30 : (long)limit.rlim_cur;
}

/// Niceness of the calling thread alone: on Linux each thread has its own. The same enum trouble, and `syscall` is variadic.
static inline int coster_set_thread_niceness(int niceness) {
    return setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), niceness);
}

/// Names the calling thread, at most 15 bytes. Variadic.
static inline int coster_name_thread(const char *name) { return prctl(PR_SET_NAME, name); }

/// A counter that wakes a loop. The flags are members of an anonymous enum.
static inline int coster_wakeup_descriptor(void) { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }
#endif
