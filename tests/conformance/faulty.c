/* Faults in the native implementation: the linker puts these functions in place of its own, which are __real_. */
#include <openkal/openkal.h>

kal_uintptr __real_kal_time_props(void);
kal_uintptr __wrap_kal_time_props(void);
kal_intptr __real_kal_env_var(const char *name, kal_uintptr name_len, char *out, kal_uintptr cap);
kal_intptr __wrap_kal_env_var(const char *name, kal_uintptr name_len, char *out, kal_uintptr cap);
int __real_kal_random_fill(void *out, kal_uintptr len);
int __wrap_kal_random_fill(void *out, kal_uintptr len);
int __real_kal_region_reserve(kal_uintptr size, void **out);
int __wrap_kal_region_reserve(kal_uintptr size, void **out);
int __real_kal_fs_mkdir(struct kal_dir base, const char *name, kal_uintptr len);
int __wrap_kal_fs_mkdir(struct kal_dir base, const char *name, kal_uintptr len);
int __real_kal_datagram_local(struct kal_datagram datagram, struct kal_endpoint *out);
int __wrap_kal_datagram_local(struct kal_datagram datagram, struct kal_endpoint *out);
void __real_kal_datagram_close(struct kal_datagram datagram);
void __wrap_kal_datagram_close(struct kal_datagram datagram);

static kal_uintptr closed;

/* A bit that has no meaning. */
kal_uintptr __wrap_kal_time_props(void)
{
    return __real_kal_time_props() | (kal_uintptr)1 << 40;
}

/* No more than was copied is told. */
kal_intptr __wrap_kal_env_var(const char *name, kal_uintptr name_len, char *out, kal_uintptr cap)
{
    const kal_intptr n = __real_kal_env_var(name, name_len, out, cap);

    return n > (kal_intptr)cap ? (kal_intptr)cap : n;
}

/* A null buffer is taken. */
int __wrap_kal_random_fill(void *out, kal_uintptr len)
{
    return out == 0 ? kal_ok : __real_kal_random_fill(out, len);
}

/* Something is written though nothing was reserved. */
int __wrap_kal_region_reserve(kal_uintptr size, void **out)
{
    const int error = __real_kal_region_reserve(size, out);

    if (error != kal_ok && out)
        *out = 0;
    return error;
}

/* Another error than the surface says. */
int __wrap_kal_fs_mkdir(struct kal_dir base, const char *name, kal_uintptr len)
{
    const int error = __real_kal_fs_mkdir(base, name, len);

    return error == kal_err_exists ? kal_err_again : error;
}

void __wrap_kal_datagram_close(struct kal_datagram datagram)
{
    if (closed == 0)
        closed = datagram.h;
    __real_kal_datagram_close(datagram);
}

/* The word that was closed first is still taken. */
int __wrap_kal_datagram_local(struct kal_datagram datagram, struct kal_endpoint *out)
{
    return datagram.h == closed ? kal_ok : __real_kal_datagram_local(datagram, out);
}
