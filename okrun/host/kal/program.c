#define _GNU_SOURCE /* memmem */
#include "program.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#define MAX_HEADERS 64
#define MAX_TABLE 4096 /* bytes of a note segment or of a dynamic table that are looked at; strings are read in parts */
#define MAX_STRINGS (UINT64_C(64) << 20) /* SPEC: IMG-26 */

struct segments {
    Elf64_Phdr at[MAX_HEADERS];
    size_t count;
};

static const char owner[8] = "openkal"; /* with its NUL */

static bool read_at(int fd, void *to, size_t size, uint64_t offset)
{
    return offset <= INT64_MAX && pread(fd, to, size, (off_t)offset) == (ssize_t)size;
}

static bool has_note(int fd, const Elf64_Phdr *segment)
{
    char bytes[MAX_TABLE];
    size_t size = segment->p_filesz < sizeof bytes ? segment->p_filesz : sizeof bytes, at = 0;
    Elf64_Nhdr note;

    if (!read_at(fd, bytes, size, segment->p_offset))
        return false;
    while (size - at >= sizeof note) {
        size_t name, desc;

        memcpy(&note, bytes + at, sizeof note);
        at += sizeof note;
        name = (size_t)(note.n_namesz + UINT64_C(3)) & ~(size_t)3;
        desc = (size_t)(note.n_descsz + UINT64_C(3)) & ~(size_t)3;
        if (name > size - at)
            return false;
        if (note.n_namesz == sizeof owner && memcmp(bytes + at, owner, sizeof owner) == 0)
            return true;
        if (desc > size - at - name)
            return false;
        at += name + desc;
    }
    return false;
}

/* Where a link address lies in the file, as far as size bytes are there; or UINT64_MAX. */
static uint64_t offset_of(const struct segments *segments, uint64_t address, uint64_t size)
{
    for (size_t i = 0; i < segments->count; i++) {
        const Elf64_Phdr *one = &segments->at[i];
        uint64_t distance = address - one->p_vaddr;

        if (one->p_type == PT_LOAD && distance < one->p_filesz && size <= one->p_filesz - distance)
            return one->p_offset + distance;
    }
    return UINT64_MAX;
}

/* Whether a string table has a name of the surface; it may be the end of another string. */
static bool names_kal(int fd, uint64_t offset, uint64_t size)
{
    static const char beginning[] = {'k', 'a', 'l', '_'};
    char bytes[MAX_TABLE];

    while (size >= sizeof beginning) {
        size_t part = size < sizeof bytes ? (size_t)size : sizeof bytes, passed = part - (sizeof beginning - 1);

        if (!read_at(fd, bytes, part, offset))
            return false;
        if (memmem(bytes, part, beginning, sizeof beginning))
            return true;
        offset += passed;
        size -= passed;
    }
    return false;
}

/* Programs and loaders that the system starts have no imports of that name. */
static bool imports_kal(int fd, const struct segments *segments, const Elf64_Phdr *dynamic)
{
    Elf64_Dyn entries[MAX_TABLE / sizeof(Elf64_Dyn)];
    size_t size = dynamic->p_filesz < sizeof entries ? dynamic->p_filesz : sizeof entries;
    uint64_t strings = 0, length = 0;

    if (!read_at(fd, entries, size, dynamic->p_offset))
        return false;
    for (size_t i = 0; i < size / sizeof *entries && entries[i].d_tag != DT_NULL; i++) {
        if (entries[i].d_tag == DT_STRTAB)
            strings = entries[i].d_un.d_ptr;
        else if (entries[i].d_tag == DT_STRSZ)
            length = entries[i].d_un.d_val;
    }
    strings = offset_of(segments, strings, length);
    return strings != UINT64_MAX && length <= MAX_STRINGS && names_kal(fd, strings, length);
}

bool program_is_image(int fd)
{
    struct segments segments;
    Elf64_Ehdr header;
    const Elf64_Phdr *dynamic = NULL;
    bool has_interpreter = false;

    if (!read_at(fd, &header, sizeof header, 0))
        return false;
    if (memcmp(&header, "PK\3\4", 4) == 0)
        return true;
    segments.count = header.e_phnum;
    if (memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_type != ET_DYN || header.e_phentsize != sizeof segments.at[0] || segments.count > MAX_HEADERS ||
        !read_at(fd, segments.at, segments.count * sizeof segments.at[0], header.e_phoff))
        return false;
    for (size_t i = 0; i < segments.count; i++) {
        const Elf64_Phdr *one = &segments.at[i];

        if (one->p_type == PT_NOTE && has_note(fd, one))
            return true;
        has_interpreter |= one->p_type == PT_INTERP;
        if (one->p_type == PT_DYNAMIC)
            dynamic = one;
    }
    return dynamic && !has_interpreter && imports_kal(fd, &segments, dynamic);
}

bool program_is_script(int fd)
{
    char magic[2];

    return read_at(fd, magic, sizeof magic, 0) && magic[0] == '#' && magic[1] == '!';
}
