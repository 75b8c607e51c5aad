// Compiles only if libsecret.h declares functions like the libraries' own headers: C rejects two
// declarations of a function with different types.

#include "../../../Sources/System/CPrephirencesLibsecret/service.h"

#define SECRET_API_SUBJECT_TO_CHANGE
#include <gio/gio.h>
#include <libsecret/secret.h>

#define SAME(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #ours)
SAME(CLIBSECRET_BUS_TYPE_NONE, G_BUS_TYPE_NONE);
SAME(CLIBSECRET_AUTHENTICATION_CLIENT, G_DBUS_CONNECTION_FLAGS_AUTHENTICATION_CLIENT);
SAME(CLIBSECRET_MESSAGE_BUS_CONNECTION, G_DBUS_CONNECTION_FLAGS_MESSAGE_BUS_CONNECTION);
SAME(CLIBSECRET_CALL_NO_AUTO_START, G_DBUS_CALL_FLAGS_NO_AUTO_START);
SAME(CLIBSECRET_MESSAGE_METHOD_CALL, G_DBUS_MESSAGE_TYPE_METHOD_CALL);
SAME(CLIBSECRET_MESSAGE_METHOD_RETURN, G_DBUS_MESSAGE_TYPE_METHOD_RETURN);
SAME(CLIBSECRET_MESSAGE_ERROR, G_DBUS_MESSAGE_TYPE_ERROR);
SAME(CLIBSECRET_PROXY_DO_NOT_LOAD_PROPERTIES, G_DBUS_PROXY_FLAGS_DO_NOT_LOAD_PROPERTIES);
SAME(CLIBSECRET_PROXY_DO_NOT_CONNECT_SIGNALS, G_DBUS_PROXY_FLAGS_DO_NOT_CONNECT_SIGNALS);
SAME(CLIBSECRET_PROXY_DO_NOT_AUTO_START, G_DBUS_PROXY_FLAGS_DO_NOT_AUTO_START);
SAME(CLIBSECRET_ERROR_CLOSED, G_IO_ERROR_CLOSED);
SAME(CLIBSECRET_ERROR_TIMED_OUT, G_IO_ERROR_TIMED_OUT);
SAME(sizeof(struct clibsecret_error), sizeof(GError));
SAME(offsetof(struct clibsecret_error, domain), offsetof(GError, domain));
SAME(offsetof(struct clibsecret_error, code), offsetof(GError, code));
SAME(offsetof(struct clibsecret_error, message), offsetof(GError, message));
SAME(sizeof(struct clibsecret_type_query), sizeof(GTypeQuery));
SAME(offsetof(struct clibsecret_type_query, class_size), offsetof(GTypeQuery, class_size));
SAME(offsetof(struct clibsecret_type_query, instance_size), offsetof(GTypeQuery, instance_size));
SAME(offsetof(struct clibsecret_object_class, constructor), offsetof(GObjectClass, constructor));

static clibsecret_constructor is_a_constructor(GObjectClass *class) { return class->constructor; }
clibsecret_constructor (*const keep)(GObjectClass *) = is_a_constructor;
