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
  'chooseBranch', 'changes', 'rewind', 'keep', 'label', 'rename', 'describe', 'save', 'delete',
  'undelete', 'move', 'purge', 'doctor', 'trust', 'prompt', 'steer', 'followUp', 'abort', 'compact',
  'setKey', 'setModel', 'setThinking', 'setEngine', 'login', 'setApproval', 'setMode', 'bash',
  'stopBackground', 'stats', 'import', 'team.share', 'team.follow', 'team.unshare', 'team.undelete',
  'team.take',
  -- generated: end
}
-- No palette offers these commands, but here their results have a buffer.
vim.list_extend(palette, { 'list', 'tree', 'team.status' })

---@param name string
local function completes(name)
  return function(lead, line, pos)
    return require('xcsh.commands').complete_argument(name, lead, line, pos)
  end
end

-- "team.share" is ":XcshTeam share".
---@type table<string, string[]>
local groups = {}
palette = vim.tbl_filter(function(name)
  local group, sub = name:match('^(%l+)%.(%l+)$')
  if not group then
    return true
  end
  groups[group] = groups[group] or {}
  table.insert(groups[group], sub)
  return false
end, palette)

for group, subs in pairs(groups) do
  local prefix = 'xcsh.' .. group .. '.'
  vim.api.nvim_create_user_command('Xcsh' .. group:gsub('^%l', string.upper), function(opts)
    local sub, rest = opts.args:match('^(%S+)%s*(.*)$')
    require('xcsh.commands').named(prefix .. sub, { args = rest, bang = opts.bang })
  end, {
    nargs = '+',
    bang = true,
    desc = ('xcsh %s: %s'):format(group, table.concat(subs, ', ')),
    complete = function(lead, line, pos)
      local sub, rest = line:sub(1, pos):match('^%s*%S+%s+(%S+)%s+(.*)$')
      if sub then
        local named = 'Xcsh ' .. rest
        return completes(prefix .. sub)(lead, named, #named)
      end
      return vim.tbl_filter(function(name)
        return vim.startswith(name, lead)
      end, subs)
    end,
  })
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

vim.api.nvim_create_user_command('XcshChanges', function(opts)
  require('xcsh.changes').list(vim.trim(opts.args))
end, {
  nargs = '?',
  desc = 'List the changes of the last turn or of the session in quickfix, or compare files',
  complete = function(lead)
    return require('xcsh.completion').starting_with(require('xcsh.changes').whats, lead)
  end,
})

vim.api.nvim_create_user_command('XcshRewind', function(opts)
  require('xcsh.rewind').start(vim.trim(opts.args))
end, { nargs = '?', desc = 'Undo changes of files, with or without the conversation' })

vim.api.nvim_create_user_command('XcshRedo', function()
  require('xcsh.rewind').redo()
end, { desc = 'Restore what the last rewind undid' })

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
