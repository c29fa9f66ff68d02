/* Loads the trust anchors of a PEM file, as in openssl/openssl#16878, without the harness:
 * `set_up FILE COUNT` prints the milliseconds of COUNT loads into one SSL_CTX, as the thread has it,
 * and of COUNT loads into a store of their own that is freed, as the harness does it. */

#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double milliseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
}

static void must(int ok, const char *what)
{
    if (!ok) {
        fprintf(stderr, "%s failed\n", what);
        exit(1);
    }
}

int main(int count, char **arguments)
{
    if (count != 3) {
        fprintf(stderr, "expected FILE COUNT\n");
        return 1;
    }
    const char *file = arguments[1];
    int loads = atoi(arguments[2]);
    must(loads > 0, "COUNT");

    SSL_CTX *context = SSL_CTX_new(TLS_method());
    must(context != NULL, "SSL_CTX_new");
    double start = milliseconds();
    for (int i = 0; i < loads; i++) {
        must(SSL_CTX_load_verify_locations(context, file, NULL), "SSL_CTX_load_verify_locations");
    }
    printf("one-context %.3f\n", milliseconds() - start);
    SSL_CTX_free(context);

    start = milliseconds();
    for (int i = 0; i < loads; i++) {
        X509_STORE *store = X509_STORE_new();
        must(store != NULL, "X509_STORE_new");
        must(X509_STORE_load_locations(store, file, NULL), "X509_STORE_load_locations");
        X509_STORE_free(store);
    }
    printf("own-store %.3f\n", milliseconds() - start);
    return 0;
}
