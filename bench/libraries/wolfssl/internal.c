/* What a build of wolfSSL without its OpenSSL API (--enable-opensslextra) keeps to itself. That option
 * would make each connection larger by 4.3 KB. */

#include <wolfssl/options.h>

#include <wolfssl/internal.h>

/* Offers and accepts only the signature scheme with these two bytes. */
void tls_wolfssl_pin_scheme(WOLFSSL_CTX *context, byte first, byte second)
{
    context->suites->hashSigAlgo[0] = first;
    context->suites->hashSigAlgo[1] = second;
    context->suites->hashSigAlgoSz = 2;
}

/* A number of the server's choice by which the TLS 1.3 ticket of the session differs from others, and 0
 * if there is none. */
word32 tls_wolfssl_ticket(const WOLFSSL *connection)
{
    return connection->session->ticketAdd;
}

/* Lets the nonces of a server's TLS 1.3 tickets begin at 0 in this connection. wolfSSL goes on from the
 * ticket that is resumed, and fails at the 256th resumption in a row. */
void tls_wolfssl_restart_nonces(WOLFSSL *connection)
{
    connection->session->ticketNonce.len = 0;
}

/* The algorithm in which the peer signed, and 0 if it did not sign. */
byte tls_wolfssl_peer_signature(const WOLFSSL *connection)
{
    return connection->options.peerSigAlgo;
}

byte tls_wolfssl_peer_hash(const WOLFSSL *connection)
{
    return connection->options.peerHashAlgo;
}

/* Whether the peer is verified, by its certificate or by the session that is resumed. */
int tls_wolfssl_peer_verified(const WOLFSSL *connection)
{
    const Options *options = &connection->options;
    return options->verifyPeer && options->peerAuthGood &&
           (options->havePeerCert || options->resuming);
}

/* The size of a connection, to compare with the library's own. */
int tls_wolfssl_size(void)
{
    return sizeof(WOLFSSL);
}
