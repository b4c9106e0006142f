#ifndef COSTER_CLIBCRYPTO_SHIM_H
#define COSTER_CLIBCRYPTO_SHIM_H
// OpenSSL's libcrypto, and the calls Swift cannot see (macros, typed stacks, deprecated names), each as one static inline function.
#include <unistd.h>

#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/cms.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/obj_mac.h>
#include <openssl/objects.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/pkcs7.h>
#include <openssl/provider.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

// ---- Core: memory, digests, keys, chains ------------------------------------------------------------------------------------------------------
#include <malloc.h>
#include <openssl/aes.h>
#include <openssl/core_dispatch.h>
#include <openssl/sha.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

static inline void *coster_wiping_malloc(size_t count, const char *file, int line) { (void)file; (void)line; return malloc(count); }

static inline void coster_wiping_free(void *memory, const char *file, int line) {
    (void)file;
    (void)line;
    if (memory == NULL) return;
    explicit_bzero(memory, malloc_usable_size(memory));
    free(memory);
}

/// Never libc's realloc: it may move the block and leave the old bytes behind.
static inline void *coster_wiping_realloc(void *memory, size_t count, const char *file, int line) {
    if (memory == NULL) return malloc(count);
    if (count == 0) {
        coster_wiping_free(memory, file, line);
        return NULL;
    }
    void *moved = malloc(count);
    if (moved == NULL) return NULL;
    size_t held = malloc_usable_size(memory);
    memcpy(moved, memory, held < count ? held : count);
    coster_wiping_free(memory, file, line);
    return moved;
}

/// In C, so that OpenSSL's every allocation does not pass through a Swift function. 0 when OpenSSL has allocated already.
static inline int coster_install_wiping_memory(void) {
    return CRYPTO_set_mem_functions(coster_wiping_malloc, coster_wiping_realloc, coster_wiping_free);
}

/// Runs this program anew in this process with two more environment variables, so that what reads them before `main` sees them. Returns only on failure.
static inline int coster_reexecute(char *const arguments[]) { return execv("/proc/self/exe", arguments); }

/// `prctl` is variadic.
static inline int coster_set_undumpable(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

/// `RLIMIT_CORE` is an enum that does not fit its own function.
static inline int coster_forbid_core_files(void) {
    struct rlimit none = {0, 0};
    return setrlimit(RLIMIT_CORE, &none);
}

/// A macro over `ERR_get_error` and friends would do; this one names what it gives: the text of one queued error, 0 when the queue is empty.
static inline int coster_next_error(char *text, size_t count) {
    unsigned long code = ERR_get_error();
    if (code == 0) return 0;
    ERR_error_string_n(code, text, count);
    return 1;
}

/// Secure-heap calls are macros that carry file and line.
static inline void *coster_secure_zalloc(size_t count) { return CRYPTO_secure_zalloc(count, "", 0); }
static inline void coster_secure_clear_free(void *memory, size_t count) { CRYPTO_secure_clear_free(memory, count, "", 0); }

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
/// The SHA-256 whose state is a plain struct: it allocates nothing, cannot fail, and a keyed state can be copied. OpenSSL 3 deprecates it in
/// favour of EVP, which does none of the three.
static inline void coster_sha256_init(SHA256_CTX *state) { SHA256_Init(state); }
static inline void coster_sha256_update(SHA256_CTX *state, const void *bytes, size_t count) { SHA256_Update(state, bytes, count); }
static inline void coster_sha256_final(SHA256_CTX *state, unsigned char *digest) { SHA256_Final(digest, state); }

/// Tables the multiples of a group's generator; deprecated because named curves need it no more, and a signer's key as generator does.
static inline int coster_ec_precompute(EC_GROUP *group, BN_CTX *context) { return EC_GROUP_precompute_mult(group, context); }
#pragma clang diagnostic pop

/// An EC key's private scalar, padded to `count` bytes in native byte order, into the caller's memory: `EVP_PKEY_get_bn_param` leaves a copy on the
/// stack. `OSSL_PARAM` keeps a pointer to its name, which a Swift string has no fixed address for.
static inline int coster_private_scalar(const EVP_PKEY *key, unsigned char *memory, size_t count) {
    OSSL_PARAM parameters[2] = {OSSL_PARAM_construct_BN(OSSL_PKEY_PARAM_PRIV_KEY, memory, count), OSSL_PARAM_construct_end()};
    return EVP_PKEY_get_params(key, parameters) == 1 && parameters[0].return_size == count;
}

/// Typed stacks are macros over `OPENSSL_sk_*`.
static inline STACK_OF(X509) *coster_x509_stack_new(void) { return sk_X509_new_null(); }
static inline int coster_x509_stack_push(STACK_OF(X509) *stack, X509 *certificate) { return sk_X509_push(stack, certificate); }
static inline void coster_x509_stack_free(STACK_OF(X509) *stack) { sk_X509_pop_free(stack, X509_free); }
static inline X509 *coster_x509_stack_last(const STACK_OF(X509) *stack) {
    int count = sk_X509_num(stack);
    return count > 0 ? sk_X509_value(stack, count - 1) : NULL;
}
// ---- Core ends --------------------------------------------------------------------------------------------------------------------------------

#endif
