// A library between a plugin and a runtime: its references are bound in the scope of the plugin
// that brought it.
void _ZdlPv(void* address);

void late_helper_frees(void* address) { _ZdlPv(address); }
