-- Defines the user commands and <Plug> mappings and nothing else: no module of the plugin is loaded
-- before one of them is used.

if vim.g.loaded_xcsh then
  return
end
vim.g.loaded_xcsh = true

if vim.fn.has('nvim-0.10') == 0 then
  vim.notify('xcsh requires Neovim 0.10 or later.', vim.log.levels.ERROR)
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
  'new', 'resume', 'continue', 'fork', 'export', 'dump', 'share', 'transcript', 'branch',
  'chooseBranch', 'label', 'rename', 'describe', 'save', 'delete', 'undelete', 'move', 'purge',
  'doctor', 'trust', 'prompt', 'steer', 'followUp', 'abort', 'compact', 'setKey', 'setModel',
  'setThinking', 'setEngine', 'login', 'setApproval', 'setMode', 'bash', 'stopBackground', 'stats',
  'import',
  -- generated: end
}
-- No palette offers these commands, but here their results have a buffer.
vim.list_extend(palette, { 'list', 'tree' })

---@param name string
local function completes(name)
  return function(lead, line, pos)
    return require('xcsh.commands').complete_argument(name, lead, line, pos)
  end
end

for _, name in ipairs(palette) do
  vim.api.nvim_create_user_command('Xcsh' .. name:gsub('^%l', string.upper), function(opts)
    require('xcsh.commands').named('xcsh.' .. name, opts)
  end, {
    nargs = '?',
    bang = true,
    desc = 'xcsh ' .. name,
    complete = completes('xcsh.' .. name),
  })
end

vim.api.nvim_create_user_command('XcshLogin', function(opts)
  require('xcsh.ways').login(vim.trim(opts.args))
end, {
  nargs = '?',
  desc = 'Choose what answers: an installed agent, a local model, or a service and its key',
  complete = completes('xcsh.login'),
})

vim.api.nvim_create_user_command('XcshModel', function(opts)
  require('xcsh.commands').named('xcsh.setModel', opts)
end, {
  nargs = '?',
  bang = true,
  desc = 'Choose the model',
  complete = completes('xcsh.setModel'),
})

vim.api.nvim_create_user_command('XcshEngines', function()
  require('xcsh.engines').pick()
end, { desc = 'Choose the engine that answers in this folder' })

vim.api.nvim_create_user_command('XcshTrust', function(opts)
  require('xcsh.trust').pick(vim.trim(opts.args))
end, {
  nargs = '?',
  desc = "Decide whether to use the folder's set-up: all, without-servers or none",
  complete = completes('xcsh.trust'),
})

vim.api.nvim_create_user_command('XcshCommands', function()
  require('xcsh.trust').commands()
end, { desc = 'Begin a prompt with a skill, a template or a slash command' })

vim.api.nvim_create_user_command('XcshHistory', function(opts)
  require('xcsh.history').choose(vim.trim(opts.args))
end, { nargs = '*', desc = 'Search the prompt history' })

vim.api.nvim_create_user_command('XcshSearchHere', function(opts)
  require('xcsh.chat.search').command(vim.trim(opts.args))
end, { nargs = '*', desc = 'Search the conversation of the chat' })

vim.api.nvim_create_user_command('XcshFind', function(opts)
  require('xcsh.find').messages(vim.trim(opts.args))
end, { nargs = '+', desc = 'List the messages of the conversation with a text in quickfix' })

vim.api.nvim_create_user_command('XcshSearch', function(opts)
  require('xcsh.find').sessions(vim.trim(opts.args), opts.bang)
end, { nargs = '+', bang = true, desc = 'List the sessions with some words in quickfix' })

vim.api.nvim_create_user_command('XcshChat', function(opts)
  require('xcsh.commands').chat(opts)
end, { nargs = '*', bang = true, range = true, desc = 'Open the xcsh chat, or toggle it with !' })

vim.api.nvim_create_user_command('XcshInline', function(opts)
  require('xcsh.commands').inline(opts)
end, { nargs = '*', range = true, desc = 'Change these lines with xcsh' })

vim.api.nvim_create_user_command('XcshReview', function(opts)
  require('xcsh.waiting').review(vim.trim(opts.args))
end, {
  nargs = '?',
  desc = 'Review the pending change by xcsh in its file, or in a tab',
  complete = function(lead)
    return require('xcsh.completion').starting_with({ 'inline', 'tab' }, lead)
  end,
})

vim.api.nvim_create_user_command('XcshChanges', function()
  require('xcsh.changes').list()
end, { desc = 'List the changes of the last turn in quickfix' })

vim.api.nvim_create_user_command('XcshApprovals', function()
  require('xcsh.waiting').approvals()
end, { desc = 'Open the pending approval or question' })

vim.keymap.set('n', '<Plug>(xcsh-review)', '<Cmd>XcshReview<CR>', { desc = 'xcsh: review' })
vim.keymap.set(
  'n',
  '<Plug>(xcsh-approvals)',
  '<Cmd>XcshApprovals<CR>',
  { desc = 'xcsh: approvals' }
)
