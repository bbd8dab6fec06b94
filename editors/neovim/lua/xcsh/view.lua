-- Shows results: a message, or a buffer that belongs to no file.

local inputs = require('xcsh.inputs')
local wire = require('xcsh.wire')

local M = {}

---@param message string
---@param level? integer
function M.notify(message, level)
  vim.notify(message, level or vim.log.levels.INFO, { title = 'xcsh' })
end

---Closing a question is not an error.
---@param err xcsh.Error
function M.error(err)
  local kind = type(err.data) == 'table' and err.data.kind
  local level = kind == 'cancelled' and vim.log.levels.INFO or vim.log.levels.ERROR
  M.notify(err.message, level)
end

---Opens a window on text. The same name is shown in the same buffer again. A line
---break inside a line, which Neovim would refuse, becomes a space.
---@param name string
---@param lines string[]
---@return integer bufnr
function M.scratch(name, lines)
  local uri = 'xcsh://' .. name
  local bufnr = -1
  for _, other in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_get_name(other) == uri then
      bufnr = other
    end
  end
  if bufnr == -1 then
    bufnr = vim.api.nvim_create_buf(false, true)
    vim.api.nvim_buf_set_name(bufnr, uri)
  end
  lines = vim.tbl_map(function(line)
    return (line:gsub('\n', ' '))
  end, lines)
  vim.bo[bufnr].modifiable = true
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, lines)
  vim.bo[bufnr].modifiable = false
  vim.bo[bufnr].bufhidden = 'wipe'
  local window = vim.fn.bufwinid(bufnr)
  if window == -1 then
    vim.cmd.sbuffer(bufnr)
  else
    vim.api.nvim_set_current_win(window)
  end
  return bufnr
end

---Opens a window above the others that q and <Esc> close.
---@param name string
---@param lines string[]
---@param footer? string
---@return integer bufnr, integer window
function M.float(name, lines, footer)
  local bufnr = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, lines)
  vim.bo[bufnr].modifiable = false
  vim.bo[bufnr].bufhidden = 'wipe'
  local title = ' xcsh: ' .. name .. ' '
  footer = footer and ' ' .. footer .. ' ' or nil
  local width = math.max(20, vim.api.nvim_strwidth(title), vim.api.nvim_strwidth(footer or ''))
  for _, line in ipairs(lines) do
    width = math.max(width, vim.api.nvim_strwidth(line))
  end
  width = math.min(width + 2, vim.o.columns - 4)
  local height = math.min(#lines, vim.o.lines - 6)
  local window = vim.api.nvim_open_win(bufnr, true, {
    relative = 'editor',
    row = math.floor((vim.o.lines - height) / 2) - 1,
    col = math.floor((vim.o.columns - width) / 2),
    width = width,
    height = height,
    style = 'minimal',
    border = 'rounded',
    title = title,
    footer = footer,
  })
  for _, lhs in ipairs({ 'q', '<Esc>' }) do
    vim.keymap.set('n', lhs, '<Cmd>close<CR>', { buffer = bufnr, nowait = true })
  end
  return bufnr, window
end

---What to call the session a command went to: its title, what it is about, its id.
---@param result { session: xcsh.State, summary?: { structured: { name: string } } }
local function title(result)
  local about = result.summary and result.summary.structured.name
  for _, text in ipairs({ result.session.title or '', about or '' }) do
    if type(text) == 'string' and text ~= '' then
      return text
    end
  end
  return result.session.sessionId
end

---@param verb string
---@param done boolean
---@param result { session: xcsh.State, cancelledBy?: string }
local function switched(verb, done, result)
  if not done then
    local by = type(result.cancelledBy) == 'string' and (' by ' .. result.cancelledBy) or ''
    return M.notify(('The switch was cancelled%s.'):format(by), vim.log.levels.WARN)
  end
  M.notify(('%s "%s".'):format(verb, title(result)))
end

---A prompt that was gone back before is there to be edited.
---@param text any
---@param cwd string
local function prompt(text, cwd)
  local chat = package.loaded['xcsh.chat']
  if type(text) == 'string' and not (chat and chat.edit(cwd, text)) then
    local bufnr = M.scratch('prompt', vim.split(text, '\n'))
    vim.bo[bufnr].modifiable = true
  end
end

---The sessions as a buffer with keys for what can be done with them.
---@param sessions xcsh.SessionInfo[]
---@param cwd string
local function list(sessions, cwd)
  local bufnr = M.scratch('sessions', vim.tbl_map(inputs.session_line, sessions))
  local everywhere = vim.iter(sessions):any(function(session)
    return session.cwd ~= cwd
  end)
  local function again(other)
    local wide = everywhere
    if other then
      wide = not wide
    end
    require('xcsh.commands').run('xcsh.list', { cwd = cwd, scope = wide and 'all' or nil })
  end
  local function map(lhs, desc, run)
    vim.keymap.set('n', lhs, function()
      run(sessions[vim.api.nvim_win_get_cursor(0)[1]])
    end, { buffer = bufnr, nowait = true, desc = 'xcsh: ' .. desc })
  end
  map('<CR>', 'resume', function(session)
    require('xcsh.commands').run('xcsh.resume', { cwd = cwd, target = session.path })
  end)
  map('p', 'show the conversation', function(session)
    require('xcsh.commands').run('xcsh.dump', { cwd = cwd, source = session.path })
  end)
  for _, action in ipairs(require('xcsh.pickers.sessions').actions(cwd, again)) do
    map(action.key, action.does, action.run)
  end
end

---Parents come before their children, and an only child stays at its parent's depth,
---so that a conversation without branches is a straight column.
---@param nodes xcsh.TreeNode[]
---@param leaf any
local function tree(nodes, leaf)
  local children, depth, lines = {}, {}, {}
  local function parent(node)
    return type(node.parentId) == 'string' and node.parentId or ''
  end
  for _, node in ipairs(nodes) do
    children[parent(node)] = (children[parent(node)] or 0) + 1
  end
  for _, node in ipairs(nodes) do
    local above = depth[parent(node)] or 0
    depth[node.id] = children[parent(node)] > 1 and above + 1 or above
    local mark = node.id == leaf and '* ' or '  '
    lines[#lines + 1] = mark .. ('  '):rep(depth[node.id]) .. inputs.entry_line(node)
  end
  M.scratch('tree', lines)
end

---The text of an answer, without its thoughts and tool calls.
---@param message any
---@return string
local function text_of(message)
  local parts = {}
  for _, block in ipairs(type(message) == 'table' and message.content or {}) do
    if block.type == 'text' then
      parts[#parts + 1] = block.text
    end
  end
  return table.concat(parts, '\n')
end

---Messages that were taken back are there to be sent again.
---@param texts string[]
local function unanswered(texts)
  if #texts > 0 then
    prompt(table.concat(texts, '\n\n'), require('xcsh.config').root())
  end
end

---@param result { model?: { provider: string, id: string }, thinkingLevel: string }
local function chosen(result)
  local model = result.model
  local name = type(model) == 'table' and (model.provider .. '/' .. model.id) or 'no model'
  M.notify(('The session asks %s, thinking: %s.'):format(name, result.thinkingLevel))
end

local function queued(result)
  M.notify(('%d messages wait for the turn that runs.'):format(result.queued))
end

---How many files of an import became of each kind, and why some did not.
local function imported(result)
  local counts, lines = {}, {}
  for _, file in ipairs(wire.tbl(result.files)) do
    counts[file.status] = (counts[file.status] or 0) + 1
    if file.status == 'failed' then
      lines[#lines + 1] = wire.str(file.reason)
    end
  end
  local said = ('Imported: %d. There already: %d.'):format(
    (counts.imported or 0) + (counts.updated or 0),
    counts.skipped or 0
  )
  if #lines > 0 then
    M.notify(said .. '\n' .. table.concat(lines, '\n'), vim.log.levels.WARN)
  else
    M.notify(said)
  end
end

---A purge that was carried out, or else its plan.
local function purged(result)
  if type(result.trashed) == 'table' then
    return M.notify(('%d sessions went to the trash.'):format(#result.trashed))
  end
  local lines = {}
  for _, item in ipairs(wire.tbl(result.plan)) do
    lines[#lines + 1] = require('xcsh.text').one_line(('%s  %s'):format(item.lastUsed, item.name))
  end
  if #lines == 0 then
    return M.notify('No session has to go.')
  end
  table.insert(lines, 1, 'These sessions would go to the trash; nothing was moved:')
  M.scratch('purge', lines)
end

---What each command shows when it is done; the others show their result as data.
---@type table<string, fun(result: any, bang: boolean, cwd: string)>
local shown = {
  ['xcsh.new'] = function(result)
    switched('Started', result.created, result)
  end,
  ['xcsh.resume'] = function(result)
    local verb = type(result.forkedFrom) == 'string' and 'Forked into' or 'Resumed'
    switched(verb, result.switched, result)
    if result.switched and type(result.repairs) == 'table' and #result.repairs > 0 then
      local text = '%d problems were found in the session; :Xcsh doctor lists them.'
      M.notify(text:format(#result.repairs), vim.log.levels.WARN)
    end
  end,
  ['xcsh.fork'] = function(result)
    switched('Forked into', result.forked, result)
    prompt(result.editorText, result.session.cwd)
  end,
  ['xcsh.export'] = function(result)
    M.notify('Exported to: ' .. result.path)
  end,
  ['xcsh.dump'] = function(result, bang)
    if result.empty then
      return M.notify(result.text)
    end
    if bang then
      local register = require('xcsh.config').register()
      vim.fn.setreg(register, result.text)
      M.notify(('The session was copied to register %s.'):format(register))
    end
    local bufnr = M.scratch('dump', vim.split(result.text, '\n'))
    vim.bo[bufnr].filetype = 'markdown'
  end,
  ['xcsh.list'] = function(result, _, cwd)
    if #result.sessions == 0 then
      return M.notify('No sessions found')
    end
    list(result.sessions, cwd)
  end,
  ['xcsh.tree'] = function(result)
    tree(result.nodes, result.leafId)
  end,
  ['xcsh.branch'] = function(result)
    M.notify(('Continuing "%s" from there.'):format(title(result)))
    prompt(result.editorText, result.session.cwd)
  end,
  ['xcsh.rename'] = function(result)
    M.notify(('The session is now called "%s".'):format(result.title))
  end,
  ['xcsh.describe'] = function(result)
    M.notify(result.description == '' and 'The description is gone.' or 'The session is described.')
  end,
  ['xcsh.save'] = function(result)
    M.notify(
      ('"%s" is saved: %s'):format(result.title ~= '' and result.title or result.slug, result.path)
    )
  end,
  ['xcsh.import'] = imported,
  ['xcsh.purge'] = purged,
  ['xcsh.delete'] = function(result)
    local text = 'The session is in the trash; ":Xcsh undelete trashed=%s" takes it back.'
    M.notify(text:format((result.trashed:gsub(' ', '\\ '))))
  end,
  ['xcsh.undelete'] = function(result)
    M.notify('The session is back: ' .. result.path)
  end,
  ['xcsh.move'] = function(result)
    M.notify(('"%s" is now a session of %s.'):format(title(result), result.session.cwd))
  end,
  ['xcsh.transcript'] = function(result)
    if type(result.path) == 'string' then
      M.notify('Written to: ' .. result.path)
    end
  end,
  ['xcsh.share'] = function(result)
    local said = {}
    for _, text in ipairs({ result.message or '', result.url or '', result.previewUrl or '' }) do
      if type(text) == 'string' and text ~= '' then
        said[#said + 1] = text
      end
    end
    M.notify(#said > 0 and table.concat(said, '\n') or 'The session was shared.')
  end,
  ['xcsh.label'] = function()
    M.notify('The entry was labelled.')
  end,
  ['xcsh.doctor'] = function(result)
    if #result.problems == 0 then
      return M.notify('No problems found.')
    end
    local lines = vim.tbl_map(function(problem)
      local line = type(problem.line) == 'number' and ('line %d: '):format(problem.line) or ''
      return line .. problem.message
    end, result.problems)
    M.scratch('problems', lines)
  end,
}
shown['xcsh.continue'] = shown['xcsh.resume']
shown['xcsh.prompt'] = function(result, _, cwd)
  if result.queued then
    return M.notify('The message waits for the turn that runs.')
  end
  if result.stopReason == 'aborted' then
    return M.notify('The turn was stopped.', vim.log.levels.WARN)
  end
  local chat = package.loaded['xcsh.chat']
  if chat and chat.visible(cwd) then
    return -- it is on the screen
  end
  local bufnr = M.scratch('answer', vim.split(text_of(result.message), '\n'))
  vim.bo[bufnr].filetype = 'markdown'
end
shown['xcsh.steer'] = queued
shown['xcsh.followUp'] = queued
shown['xcsh.abort'] = function(result)
  M.notify(result.aborted and 'Stopped.' or 'Nothing runs.')
  unanswered(result.unanswered)
end
shown['xcsh.compact'] = function(result)
  M.notify(('%d tokens were summarised.'):format(result.tokensBefore))
end
shown['xcsh.models'] = function(result)
  M.scratch('models', vim.tbl_map(inputs.model_line, result.models))
end
shown['xcsh.setModel'] = chosen
shown['xcsh.setThinking'] = chosen
shown['xcsh.setApproval'] = function(result)
  M.notify(('The approval mode is %s.'):format(result.mode))
end
shown['xcsh.approve'] = function(result)
  M.notify(('The tool call was answered: %s.'):format(result.decision))
end
shown['xcsh.bash'] = function(result)
  local lines = { '$ ' .. result.command }
  vim.list_extend(lines, vim.split((result.output:gsub('\n$', '')), '\n'))
  if result.cancelled then
    lines[#lines + 1] = '[stopped]'
  elseif result.exitCode ~= 0 then
    lines[#lines + 1] = ('[exit code %d]'):format(result.exitCode)
  end
  M.scratch('bash', lines)
end

---Shows what a command answered.
---@param name string
---@param result any
---@param bang boolean
---@param cwd string the directory it was about
function M.result(name, result, bang, cwd)
  local show = shown[name]
  if show then
    return show(result, bang, cwd)
  end
  local bufnr = M.scratch(name:gsub('^xcsh%.', ''), vim.split(vim.inspect(result), '\n'))
  vim.bo[bufnr].syntax = 'lua'
end

return M
