/* Any bytes as a plan, for libFuzzer: begin with a good plan, as only few of all bytes look like one.
 * What is accepted must be usable: every range that the host will read is read. */
#include "good_plan.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

/* Strings are as long as they say, and every import's name ends inside them. */
static void use(const struct plan *p)
{
    size_t n = strlen(p->path) + strlen(p->build_id) + strlen(p->report_dir) + strlen(p->run);

    for (const char *word = NULL; (word = plan_next_word(&p->preopens, word)) != NULL;)
        n += strlen(word);
    for (const char *word = NULL; (word = plan_next_word(&p->runner, word)) != NULL;)
        n += strlen(word);
    for (uint64_t i = 1; i < p->header->symbol_count; i++) {
        if (p->kinds[i] >= PLAN_SYMBOL_KAL)
            n += strlen(p->imports.at + p->values[i]);
    }
    for (uint64_t i = 0; i < p->header->segment_count; i++) {
        const struct plan_segment *s = &p->segments[i];

        if (s->vaddr < p->header->lo || s->vaddr + s->memsz > p->header->hi || s->memsz > p->header->hi ||
            s->offset + s->filesz > p->header->image_size || (s->prot & 3) == 3)
            abort();
    }
    if (n > p->header->size)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct plan plan;
    struct refusal why;
    void *exact = malloc(size != 0 ? size : 1);

    if (exact == NULL)
        abort();
    memcpy(exact, data, size);
    if (plan_decode(exact, size, &plan, &why))
        use(&plan);
    free(exact);
    return 0;
}

/* Mutate, then put right what says that this is a plan at all, so that the checks behind it are reached. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    struct good_plan good = good_plan();

    if (size < sizeof good && most >= sizeof good) {
        memcpy(data, &good, sizeof good);
        size = sizeof good;
    }
    size = LLVMFuzzerMutate(data, size, most) & ~(size_t)7;
    if (size >= sizeof good.h && seed % 16 != 0) {
        good.h.size = size;
        memcpy(data, &good.h, 3 * sizeof(uint64_t));
    }
    return size;
}
