-- Defines the user commands and nothing else: no module of the plugin is loaded
-- before one of them is used.

if vim.g.loaded_xcsh then
  return
end
vim.g.loaded_xcsh = true

if vim.fn.has('nvim-0.10') == 0 then
  vim.notify('xcsh needs Neovim 0.10 or newer.', vim.log.levels.ERROR)
  return
end

vim.api.nvim_create_user_command('Xcsh', function(opts)
  require('xcsh.commands').generic(opts)
end, {
  nargs = '*',
  bang = true,
  desc = 'Run any xcsh command',
  complete = function(lead, line, pos)
    return require('xcsh.commands').complete(lead, line, pos)
  end,
})

-- stylua: ignore
local palette = {
  -- generated: begin
  'new', 'resume', 'continue', 'fork', 'export', 'dump', 'share', 'transcript', 'branch', 'label',
  'rename', 'describe', 'save', 'delete', 'move', 'purge', 'doctor', 'prompt', 'steer', 'followUp',
  'abort', 'compact', 'setModel', 'setThinking', 'setApproval', 'bash', 'stats', 'import',
  -- generated: end
}
-- No palette offers these, but here they have a buffer of their own.
vim.list_extend(palette, { 'list', 'tree' })

for _, name in ipairs(palette) do
  vim.api.nvim_create_user_command('Xcsh' .. name:gsub('^%l', string.upper), function(opts)
    require('xcsh.commands').named('xcsh.' .. name, opts)
  end, {
    nargs = '?',
    bang = true,
    desc = 'xcsh ' .. name,
    complete = function(lead, line, pos)
      return require('xcsh.commands').complete_argument('xcsh.' .. name, lead, line, pos)
    end,
  })
end

vim.api.nvim_create_user_command('XcshModel', function(opts)
  require('xcsh.commands').named('xcsh.setModel', opts)
end, { nargs = '?', bang = true, desc = 'xcsh setModel' })

vim.api.nvim_create_user_command('XcshHistory', function(opts)
  require('xcsh.history').choose(vim.trim(opts.args))
end, { nargs = '*', desc = 'Choose among what was said before, here and in the terminal' })

vim.api.nvim_create_user_command('XcshChat', function(opts)
  require('xcsh.commands').chat(opts)
end, { nargs = '*', bang = true, range = true, desc = 'Show the xcsh chat, or with ! hide it' })

vim.api.nvim_create_user_command('XcshInline', function(opts)
  require('xcsh.commands').inline(opts)
end, { nargs = '*', range = true, desc = 'Ask xcsh to change these lines' })
