/* Addresses of the network: openkal's and the system's.                                                SPEC: NET-1 */
#ifndef OKHOST_KAL_ENDPOINT_H
#define OKHOST_KAL_ENDPOINT_H

#include <netinet/in.h>
#include <openkal/net.h>
#include <stdbool.h>
#include <sys/socket.h>

union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

/* The system's address for an endpoint; false where it is none: another length than 4, 16 and 20, a port above 65,535.
 */
bool endpoint_read(const struct kal_endpoint *endpoint, union address *address, socklen_t *length);

/* Every address of this machine, and a port that the system chooses: an address of IPv6 where there is IPv6. */
void endpoint_any(union address *address, socklen_t *length);

/* The endpoint for an address of the system; false where it is of another family than IPv4 and IPv6. An address of IPv4
 * that IPv6 wraps is one of IPv4. */
bool endpoint_write(const union address *address, struct kal_endpoint *endpoint);

/* Make a socket of the address's family, bound to it; with only_family, one of IPv6 has nothing to do with IPv4.
 * Ensures:  a descriptor above 2, close-on-exec; or the negated error. */
int endpoint_bind(const union address *address, socklen_t length, int type, bool only_family);

/* Write the address of this end of a socket, or of the other, to *endpoint; kal_ok or the error. */
int endpoint_local(int fd, struct kal_endpoint *endpoint);
int endpoint_peer(int fd, struct kal_endpoint *endpoint);

/* Whether this machine has IPv6: the protocol and, of its own, the loopback address. What was found stays the answer;
 * without a descriptor to find it out it is yes, where the protocol is known. */
bool endpoint_has_v6(void);

#endif
