/* Makes security policies for s2n-tls. Its applications choose one of the named policies, none of
 * which pins the parameters of a scenario; s2n-tls' own tests build policies in this way. */

#include <stdlib.h>
#include <string.h>

#include "tls/s2n_cipher_preferences.h"
#include "tls/s2n_config.h"
#include "tls/s2n_ecc_preferences.h"
#include "tls/s2n_kem_preferences.h"
#include "tls/s2n_security_policies.h"
#include "tls/s2n_signature_scheme.h"

/* No header declares it. */
int s2n_config_set_security_policy(struct s2n_config *config, const struct s2n_security_policy *policy);

#define MOST_GROUPS 8

struct policy {
    struct s2n_security_policy policy;
    struct s2n_cipher_preferences suites;
    struct s2n_cipher_suite *suite;
    struct s2n_signature_preferences signatures;
    const struct s2n_signature_scheme *signature;
    struct s2n_ecc_preferences curves;
    const struct s2n_ecc_named_curve *curve[MOST_GROUPS];
    const struct s2n_kem_group *hybrid[MOST_GROUPS];
    uint8_t hybrid_count;
    struct s2n_kem_preferences *kept;
};

/* Frees a policy, which may be NULL. */
void tls_harness_unpin(void *policy)
{
    struct policy *it = policy;
    if (it != NULL) {
        free(it->kept);
        free(it);
    }
}

static struct s2n_cipher_suite *find_suite(uint16_t number)
{
    for (size_t i = 0; i < cipher_preferences_test_all.count; i++) {
        struct s2n_cipher_suite *suite = cipher_preferences_test_all.suites[i];
        if ((suite->iana_value[0] << 8 | suite->iana_value[1]) == number) {
            return suite;
        }
    }
    return NULL;
}

static const struct s2n_signature_scheme *find_signature(uint16_t number)
{
    const struct s2n_signature_scheme *all[] = {
        &s2n_rsa_pss_rsae_sha256,
        &s2n_ecdsa_sha256,
        &s2n_ecdsa_sha384,
        &s2n_mldsa44,
        &s2n_mldsa65,
        &s2n_mldsa87,
    };
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        if (all[i]->iana_value == number) {
            return all[i];
        }
    }
    return NULL;
}

/* Adds a group to the policy; returns false if s2n-tls has none with this number. */
static bool add_group(struct policy *policy, uint16_t number)
{
    for (size_t i = 0; i < s2n_all_supported_curves_list_len; i++) {
        if (s2n_all_supported_curves_list[i]->iana_id == number) {
            policy->curve[policy->curves.count++] = s2n_all_supported_curves_list[i];
            return true;
        }
    }
    for (size_t i = 0; i < S2N_KEM_GROUPS_COUNT; i++) {
        if (ALL_SUPPORTED_KEM_GROUPS[i]->iana_id == number) {
            policy->hybrid[policy->hybrid_count++] = ALL_SUPPORTED_KEM_GROUPS[i];
            return true;
        }
    }
    return false;
}

/* Makes `config` use a policy with only these parameters. All numbers are IANA's; `version` is
 * S2N_TLS12 or S2N_TLS13. Returns the policy, which the caller frees after `config`, or NULL if
 * s2n-tls lacks a parameter or rejects it. */
void *tls_harness_pin(struct s2n_config *config, uint8_t version, uint16_t suite, uint16_t signature,
        const uint16_t *groups, size_t group_count)
{
    struct policy *it = calloc(1, sizeof(*it));
    if (it == NULL || group_count > MOST_GROUPS) {
        tls_harness_unpin(it);
        return NULL;
    }
    it->suite = find_suite(suite);
    it->signature = find_signature(signature);
    if (it->suite == NULL || it->signature == NULL) {
        tls_harness_unpin(it);
        return NULL;
    }
    for (size_t i = 0; i < group_count; i++) {
        if (!add_group(it, groups[i])) {
            tls_harness_unpin(it);
            return NULL;
        }
    }
    it->suites.count = 1;
    it->suites.suites = &it->suite;
    it->signatures.count = 1;
    it->signatures.signature_schemes = &it->signature;
    it->curves.ecc_curves = it->curve;
    /* Its fields are const, so they are set in an initializer and copied. */
    const struct s2n_kem_preferences hybrids = {
        .tls13_kem_group_count = it->hybrid_count,
        .tls13_kem_groups = it->hybrid,
        .tls13_pq_hybrid_draft_revision = 5, /* as in all named policies */
    };
    struct s2n_kem_preferences *kept = malloc(sizeof(hybrids));
    if (kept == NULL) {
        tls_harness_unpin(it);
        return NULL;
    }
    memcpy(kept, &hybrids, sizeof(hybrids));
    it->kept = kept;
    it->policy.minimum_protocol_version = version;
    it->policy.cipher_preferences = &it->suites;
    it->policy.kem_preferences = kept;
    it->policy.signature_preferences = &it->signatures;
    it->policy.ecc_preferences = &it->curves;
    if (s2n_config_set_security_policy(config, &it->policy) != 0) {
        tls_harness_unpin(it);
        return NULL;
    }
    return it;
}
