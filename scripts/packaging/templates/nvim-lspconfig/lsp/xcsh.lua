---@brief
---
--- <% .Homepage %>
---
--- Sessions of terminal coding agents (xcsh, oh-my-pi and pi): list, resume, fork, export and continue them.
--- Download the server from <% .Homepage %>/releases and add it to `PATH`.
---
--- To run a command, which asks for missing arguments:
---
--- ```lua
--- vim.lsp.get_clients({ name = 'xcsh' })[1]:exec_cmd({
---   title = 'Prompt',
---   command = 'xcsh.prompt',
---   arguments = { vim.empty_dict() },
--- })
--- ```
---
--- The plugin https://github.com/xcsh-ls/xcsh.nvim has a client of its own; where it is installed, this configuration starts nothing.

<% .After "editors/neovim/lsp/xcsh.lua" "\n\n" -%>
