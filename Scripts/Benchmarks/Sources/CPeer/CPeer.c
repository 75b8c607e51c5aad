#include "CPeer.h"

#include <libsecret/secret.h>
#include <stdio.h>
#include <string.h>

static const SecretSchema schema = {
    "org.freedesktop.Secret.Generic",
    SECRET_SCHEMA_NONE,
    {
        {"service", SECRET_SCHEMA_ATTRIBUTE_STRING},
        {"account", SECRET_SCHEMA_ATTRIBUTE_STRING},
        {NULL, 0},
    },
};

static bool report(GError *error) {
  if (error == NULL) return true;
  fprintf(stderr, "the keyring: %s\n", error->message);
  g_error_free(error);
  return false;
}

bool peer_store(const char *service, const char *account, const char *secret) {
  GError *error = NULL;
  secret_password_store_sync(&schema, SECRET_COLLECTION_DEFAULT, account, secret, NULL, &error,
                             "service", service, "account", account, NULL);
  return report(error);
}

long peer_lookup(const char *service, const char *account) {
  GError *error = NULL;
  gchar *secret = secret_password_lookup_nonpageable_sync(
      &schema, NULL, &error, "service", service, "account", account, NULL);
  if (!report(error) || secret == NULL) return -1;
  long count = (long)strlen(secret);
  secret_password_free(secret);
  return count;
}

long peer_search(const char *service, const char *account) {
  GError *error = NULL;
  GHashTable *names =
      secret_attributes_build(&schema, "service", service, "account", account, NULL);
  GList *items = secret_service_search_sync(NULL, &schema, names, SECRET_SEARCH_LOAD_SECRETS, NULL,
                                            &error);
  g_hash_table_unref(names);
  if (!report(error) || items == NULL) return -1;
  SecretItem *item = SECRET_ITEM(items->data);
  GHashTable *attributes = secret_item_get_attributes(item);
  SecretValue *value = secret_item_get_secret(item);
  gsize count = 0;
  bool complete = value != NULL && secret_value_get(value, &count) != NULL &&
                  g_hash_table_contains(attributes, "account");
  if (value != NULL) secret_value_unref(value);
  g_hash_table_unref(attributes);
  g_list_free_full(items, g_object_unref);
  return complete ? (long)count : -1;
}
