#include "embed/losses/loss.h"

const kith__loss *kith__loss_get(int index)
{
#define ROW(name) &kith__loss_##name,
    static const kith__loss *const losses[] = {KITH__LOSSES(ROW)};
#undef ROW
    return losses[index];
}

const char *kith__loss_names(void)
{
#define ROW(name) "|" #name
    return &KITH__LOSSES(ROW)[1];
#undef ROW
}
