#define INTERFACE "version"
#include "conformance.h"

int main(void)
{
    const kal_u64 word = kal_interfaces(), core = KAL_IFACE_ABORT | KAL_IFACE_STREAM | KAL_IFACE_MEMORY;

    CHECK(kal_version, "is at least that of the headers", kal_version() >= KAL_VERSION);
    CHECK(kal_version, "has major version 0 as the headers", kal_version() >> 32 == 0);
    CHECK(kal_version, "is the same at every call", kal_version() == kal_version());
    CHECK(kal_interfaces, "has the core", (word & core) == core);
    CHECK(kal_interfaces, "has what the runner answers", (word & KAL_IFACE_PROF) != 0 && (word & KAL_IFACE_DEBUG) != 0);
    CHECK(kal_interfaces, "unassigned positions are 0", word >> 19 == 0 || kal_version() > KAL_VERSION);
    CHECK(kal_interfaces, "is the same at every call", kal_interfaces() == word);
    return summary();
}
