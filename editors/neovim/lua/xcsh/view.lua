-- Shows results: a message, or a buffer without a file.

local inputs = require('xcsh.inputs')
local wire = require('xcsh.wire')

local M = {}

---Reports whether vim.notify is Neovim's own, which writes to the command line. Later versions do
---not reveal its source file.
local function plain_notify()
  local source = debug.getinfo(vim.notify, 'S').source
  return source == '?' or source == '=?' or vim.startswith(source, '@vim/_')
end

---Adds a text to the message history. Each piece fits on the command line and replaces the one
---before, so that none waits for a key.
---@param message string
local function record(message)
  local text = require('xcsh.text')
  for _, line in ipairs(text.whole(message)) do
    for _, piece in ipairs(text.pieces(line, vim.v.echospace)) do
      vim.cmd.redraw() -- clears the previous message
      vim.api.nvim_echo({ { piece } }, true, {})
    end
  end
end

---Shows a message. The command line gets one line that fits: a longer one would wait for a key, and
---take one that the user types for something else. The message history has the full text.
---@param message string
---@param level? integer
function M.notify(message, level)
  level = level or vim.log.levels.INFO
  if plain_notify() then
    local line, fits = require('xcsh.text').fit(message, vim.v.echospace, ' … (see :messages)')
    if not fits then
      record(message)
    end
    vim.cmd.redraw() -- clears the previous message, which would make this one wait, too
    message = line
  end
  vim.notify(message, level, { title = 'xcsh' })
end

---Shows an error. Closing a question is not an error.
---@param err xcsh.Error
function M.error(err)
  local kind = type(err.data) == 'table' and err.data.kind
  local level = kind == 'cancelled' and vim.log.levels.INFO or vim.log.levels.ERROR
  M.notify(err.message, level)
end

---The command whose result is being shown; nil if the user's own key shows it.
---@type { intent: xcsh.Intent, cwd: string }?
local presenting

---@param bufnr integer
local function focus(bufnr)
  local window = vim.fn.bufwinid(bufnr)
  if window == -1 then
    vim.cmd.sbuffer(bufnr)
  else
    vim.api.nvim_set_current_win(window)
  end
end

---Opens a result that takes the focus, if the user is waiting for it; otherwise announces it.
---@param says string description on one line
---@param open fun()
local function open_result(says, open)
  local intent = presenting and presenting.intent
  if not intent or intent:waits() then
    return open()
  end
  require('xcsh.waiting').add({
    kind = 'result',
    cwd = presenting.cwd,
    says = says,
    once = true,
    open = open,
  })
end

---Shows a buffer. The window takes the focus only while the user is waiting for it. The answer to a
---turn never does, and if the user continued with other work meanwhile, no window opens.
---@param bufnr integer
---@param name string
local function present(bufnr, name)
  local intent = presenting and presenting.intent
  if not intent or intent:waits() then
    return focus(bufnr)
  elseif vim.fn.bufwinid(bufnr) ~= -1 then
    return
  end
  local direction = vim.o.splitbelow and 'below' or 'above'
  if intent:idle() and pcall(vim.api.nvim_open_win, bufnr, false, { split = direction }) then
    return
  end
  open_result(('xcsh %s is ready'):format(name), function()
    if vim.api.nvim_buf_is_valid(bufnr) then
      focus(bufnr)
    end
  end)
end

---Replaces the text of a buffer that the user cannot change. A line break inside a line, which
---Neovim would reject, becomes a space.
---@param bufnr integer
---@param lines string[]
function M.fill(bufnr, lines)
  lines = vim.tbl_map(function(line)
    return (line:gsub('\n', ' '))
  end, lines)
  vim.bo[bufnr].modifiable = true
  vim.api.nvim_buf_set_lines(bufnr, 0, -1, false, lines)
  vim.bo[bufnr].modifiable = false
end

---Opens a window with text. The same name reuses its buffer.
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
  M.fill(bufnr, lines)
  vim.bo[bufnr].bufhidden = 'wipe'
  present(bufnr, name)
  return bufnr
end

---Makes a floating window as high as its text, which can have wrapped lines, and centers it.
---@param window integer
local function fit_height(window)
  local height = math.min(vim.api.nvim_win_text_height(window, {}).all, vim.o.lines - 6)
  vim.api.nvim_win_set_config(window, {
    relative = 'editor',
    row = math.floor((vim.o.lines - height) / 2) - 1,
    col = math.floor((vim.o.columns - vim.api.nvim_win_get_width(window)) / 2),
    height = height,
  })
end

---Opens a floating window that q and <Esc> close.
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
  local window = vim.api.nvim_open_win(bufnr, true, {
    relative = 'editor',
    row = 0,
    col = 0,
    width = width,
    height = 1,
    style = 'minimal',
    border = 'rounded',
    title = title,
    footer = footer,
  })
  vim.wo[window].wrap, vim.wo[window].linebreak = true, true
  fit_height(window)
  for _, lhs in ipairs({ 'q', '<Esc>' }) do
    vim.keymap.set('n', lhs, '<Cmd>close<CR>', { buffer = bufnr, nowait = true })
  end
  return bufnr, window
end

---Returns a name for the session of a command: its title, its summary, or its id.
---@param result { session: xcsh.State, summary?: { structured: { name: string } } }
local function title(result)
  local about = wire.tbl(wire.tbl(result.summary).structured).name
  for _, text in ipairs({ wire.str(result.session.title), wire.str(about) }) do
    if text ~= '' then
      return text
    end
  end
  return wire.pending(result.session).title and '…' or result.session.sessionId
end

---@param verb string
---@param done boolean
---@param result { session: xcsh.State, cancelledBy?: string }
local function switched(verb, done, result)
  if not done then
    local by = type(result.cancelledBy) == 'string' and (' by ' .. result.cancelledBy) or ''
    return M.notify(('Canceled%s.'):format(by), vim.log.levels.WARN)
  end
  M.notify(('%s "%s".'):format(verb, title(result)))
end

---Makes a prompt available for editing after going back to before it.
---@param text any
---@param cwd string
function M.prompt(text, cwd)
  local chat = package.loaded['xcsh.chat']
  if type(text) == 'string' and not (chat and chat.edit(cwd, text)) then
    local bufnr = M.scratch('prompt', vim.split(text, '\n'))
    vim.bo[bufnr].modifiable = true
  end
end

---Requests the next page of a result, and shows it with the result so far.
---@param name string
---@param args table<string, any> the arguments of the first page
---@param cursor string
---@param show fun(page: any)
local function next_page(name, args, cursor, show)
  local intent = require('xcsh.intent').begin()
  local more = vim.tbl_extend('force', args, { cursor = cursor })
  require('xcsh.client').execute(name, more, function(err, result)
    intent:finish()
    if err then
      return M.error(err)
    end
    presenting = { intent = intent, cwd = args.cwd }
    local ok, problem = pcall(show, result)
    presenting = nil
    if not ok then
      error(problem, 0)
    end
  end)
end

local more_line = '… more (press <CR>)'

local list, tree ---@type fun(...), fun(...)

---Shows the sessions in a buffer with keys for actions on them.
---@param sessions xcsh.SessionInfo[]
---@param cwd string
---@param args table<string, any>
---@param cursor string of more sessions, or ""
function list(sessions, cwd, args, cursor)
  local lines = vim.tbl_map(inputs.session_line, sessions)
  if cursor ~= '' then
    lines[#lines + 1] = more_line
  end
  local bufnr = M.scratch('sessions', lines)
  local everywhere = args.scope == 'all'
    or vim.iter(sessions):any(function(session)
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
      local session = sessions[vim.api.nvim_win_get_cursor(0)[1]]
      if session then
        return run(session)
      elseif cursor ~= '' then
        next_page('xcsh.list', args, cursor, function(page)
          local all = vim.list_extend(vim.list_slice(sessions), wire.tbl(page.sessions))
          list(all, cwd, args, wire.str(page.nextCursor))
        end)
      end
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

---Deeper entries of the tree are not indented further.
local max_depth = 20

---Renders the tree. Parents come before their children, and an only child keeps its parent's depth,
---so that a conversation without branches is a straight column.
---@param nodes xcsh.TreeNode[]
---@param leaf any
---@param args table<string, any>
---@param cursor string of more nodes, or ""
function tree(nodes, leaf, args, cursor)
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
    local line = mark .. ('  '):rep(math.min(depth[node.id], max_depth)) .. inputs.entry_line(node)
    local count = wire.num(node.count)
    lines[#lines + 1] = count > 1 and ('%s · %d entries'):format(line, count) or line
  end
  if cursor ~= '' then
    lines[#lines + 1] = more_line
  end
  local bufnr = M.scratch('tree', lines)
  vim.keymap.set('n', '<CR>', function()
    if cursor ~= '' and vim.api.nvim_win_get_cursor(0)[1] > #nodes then
      next_page('xcsh.tree', args, cursor, function(page)
        local all = vim.list_extend(vim.list_slice(nodes), wire.tbl(page.nodes))
        tree(all, leaf, args, wire.str(page.next))
      end)
    end
  end, { buffer = bufnr, nowait = true, desc = 'xcsh: load more entries' })
end

---Returns the text of an answer, without thinking and tool calls.
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

---Makes withdrawn messages available for sending again.
---@param texts string[]
local function unanswered(texts)
  if #texts > 0 then
    M.prompt(table.concat(texts, '\n\n'), require('xcsh.config').root())
  end
end

---@param result { model?: { provider: string, id: string }, thinkingLevel: string }
local function chosen(result)
  local model = result.model
  local name = type(model) == 'table' and (model.provider .. '/' .. model.id) or 'no model'
  M.notify(('Model: %s. Thinking level: %s.'):format(name, result.thinkingLevel))
end

local function queued(result)
  M.notify(('Queued messages: %d.'):format(result.queued))
end

---Describes the result of an import: the number of files per outcome, and the reasons for failures.
local function imported(result)
  local counts, lines = {}, {}
  for _, file in ipairs(wire.tbl(result.files)) do
    counts[file.status] = (counts[file.status] or 0) + 1
    if file.status == 'failed' then
      lines[#lines + 1] = wire.str(file.reason)
    end
  end
  local said = ('Imported: %d. Already imported: %d.'):format(
    (counts.imported or 0) + (counts.updated or 0),
    counts.skipped or 0
  )
  if #lines > 0 then
    M.notify(said .. '\n' .. table.concat(lines, '\n'), vim.log.levels.WARN)
  else
    M.notify(said)
  end
end

---Describes a completed purge, or its plan.
local function purged(result)
  if type(result.trashed) == 'table' then
    local count = #result.trashed
    local unit = count == 1 and 'session' or 'sessions'
    return M.notify(('Moved %d %s to the trash.'):format(count, unit))
  end
  local lines = {}
  for _, item in ipairs(wire.tbl(result.plan)) do
    lines[#lines + 1] = require('xcsh.text').one_line(('%s  %s'):format(item.lastUsed, item.name))
  end
  if #lines == 0 then
    return M.notify('No sessions to clean up.')
  end
  table.insert(lines, 1, 'These sessions would be moved to the trash (nothing has been moved):')
  M.scratch('purge', lines)
end

---Describes the secrets that were replaced in a text.
---@param result { redacted?: table<string, integer> }
---@return string
local function redacted(result)
  local kinds = {}
  for kind, count in pairs(wire.tbl(result.redacted)) do
    kinds[#kinds + 1] = ('%s %d'):format(kind, count)
  end
  table.sort(kinds)
  return #kinds == 0 and '' or ('. Secrets replaced: %s.'):format(table.concat(kinds, ', '))
end

---@param repairs any
local function repaired(repairs)
  local count = #wire.tbl(repairs)
  if count > 0 then
    local found = count == 1 and '1 problem was found' or ('%d problems were found'):format(count)
    local text = '%s in the session file. Use :XcshDoctor for details.'
    M.notify(text:format(found), vim.log.levels.WARN)
  end
end

---The sessions that the user resumed and that are still being read, by folder.
---@type table<string, string>
local reading = {}

---Shows what was found when a session that was resumed early is read.
---@param params { cwd: string, sessionId: string, repairs: any }
function M.read(params)
  if reading[params.cwd] == params.sessionId then
    reading[params.cwd] = nil
    repaired(params.repairs)
  end
end

---How to show the result of each command; the others show it as data.
---@type table<string, fun(result: any, bang: boolean, cwd: string, args: table<string, any>)>
local shown = {
  ['xcsh.new'] = function(result)
    if result.created and title(result) == result.session.sessionId then
      return M.notify('Started a new session.')
    end
    switched('Started', result.created, result)
  end,
  ['xcsh.resume'] = function(result)
    local verb = type(result.forkedFrom) == 'string' and 'Forked into' or 'Resumed'
    switched(verb, result.switched, result)
    if result.switched then
      reading[result.session.cwd] = wire.pending(result).repairs and result.session.sessionId or nil
      repaired(result.repairs)
    end
  end,
  ['xcsh.fork'] = function(result)
    switched('Forked into', result.forked, result)
    M.prompt(result.editorText, result.session.cwd)
  end,
  ['xcsh.export'] = function(result)
    M.notify('Exported to ' .. result.path .. redacted(result))
  end,
  ['xcsh.dump'] = function(result, bang)
    if result.empty then
      return M.notify(result.text)
    end
    if bang then
      local register = require('xcsh.config').register()
      vim.fn.setreg(register, result.text)
      M.notify(('Copied the session to register %s'):format(register) .. redacted(result))
    end
    local bufnr = M.scratch('dump', vim.split(result.text, '\n'))
    vim.bo[bufnr].filetype = 'markdown'
  end,
  ['xcsh.list'] = function(result, _, cwd, args)
    if #result.sessions == 0 then
      return M.notify('No sessions found.')
    end
    list(result.sessions, cwd, args, wire.str(result.nextCursor))
  end,
  ['xcsh.tree'] = function(result, _, _, args)
    tree(result.nodes, result.leafId, args, wire.str(result.next))
  end,
  ['xcsh.branch'] = function(result)
    M.notify(('Continuing "%s" from the selected message.'):format(title(result)))
    M.prompt(result.editorText, result.session.cwd)
  end,
  ['xcsh.rename'] = function(result)
    M.notify(('Renamed to "%s".'):format(result.title))
  end,
  ['xcsh.describe'] = function(result)
    M.notify(result.description == '' and 'Description removed.' or 'Description saved.')
  end,
  ['xcsh.save'] = function(result)
    M.notify(
      ('Saved "%s" to %s'):format(result.title ~= '' and result.title or result.slug, result.path)
    )
  end,
  ['xcsh.import'] = imported,
  ['xcsh.purge'] = purged,
  ['xcsh.delete'] = function(result)
    local text = 'Moved the session to the trash. To restore it: ":XcshUndelete %s"'
    M.notify(text:format(result.trashed))
  end,
  ['xcsh.undelete'] = function(result)
    M.notify('Session restored: ' .. result.path)
  end,
  ['xcsh.deleteTrashed'] = function()
    M.notify('Session deleted permanently.')
  end,
  ['xcsh.move'] = function(result)
    M.notify(('Moved "%s" to %s.'):format(title(result), result.session.cwd))
  end,
  ['xcsh.transcript'] = function(result)
    if type(result.path) == 'string' then
      M.notify('Wrote ' .. result.path)
    end
  end,
  ['xcsh.share'] = function(result)
    local said = {}
    for _, text in ipairs({ result.message or '', result.url or '', result.previewUrl or '' }) do
      if type(text) == 'string' and text ~= '' then
        said[#said + 1] = text
      end
    end
    M.notify(#said > 0 and table.concat(said, '\n') or 'Session shared.')
  end,
  ['xcsh.label'] = function(_, _, _, args)
    M.notify(wire.str(args.label) ~= '' and 'Label saved.' or 'Label removed.')
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
    return M.notify('Queued. It will be sent when the current turn ends.')
  end
  if wire.str(result.command) ~= '' then
    local lines = require('xcsh.text').whole(wire.str(result.answer))
    vim.bo[M.scratch(result.command, lines)].filetype = 'markdown'
    return
  end
  if result.stopReason == 'aborted' then
    return M.notify('The turn was stopped.', vim.log.levels.WARN)
  end
  local chat = package.loaded['xcsh.chat']
  if chat and chat.visible(cwd) then
    return -- it is already visible
  end
  local bufnr = M.scratch('answer', vim.split(text_of(result.message), '\n'))
  vim.bo[bufnr].filetype = 'markdown'
end
shown['xcsh.steer'] = queued
shown['xcsh.followUp'] = queued
shown['xcsh.abort'] = function(result)
  M.notify(result.aborted and 'Stopped.' or 'Nothing is running.')
  unanswered(result.unanswered)
end
shown['xcsh.compact'] = function(result)
  M.notify(('Compacted %d tokens.'):format(result.tokensBefore))
end
shown['xcsh.models'] = function(result)
  M.scratch('models', vim.tbl_map(inputs.model_line, result.models))
end
shown['xcsh.setModel'] = chosen
shown['xcsh.setThinking'] = chosen
shown['xcsh.stats'] = function(result)
  M.scratch('stats', require('xcsh.labels').stats(result))
end
shown['xcsh.setKey'] = function(result)
  M.notify('Key stored in ' .. require('xcsh.text').one_line(wire.str(result.stored), 300))
end
shown['xcsh.engines'] = function(result)
  M.scratch('engines', vim.tbl_map(require('xcsh.engines').line, wire.tbl(result.engines)))
end
shown['xcsh.trust'] = function(result)
  local states = { trusted = 'is used', withoutServers = 'is used without its servers' }
  M.notify("The folder's set-up " .. (states[result.state] or 'is not used') .. '.')
end
shown['xcsh.setEngine'] = function(result)
  local name = require('xcsh.engine').label(result)
  local said = ('%s answers in this folder from the next prompt on. '):format(name)
  M.notify(vim.trim(said .. require('xcsh.text').one_line(wire.str(result.message))))
end
shown['xcsh.commands'] = function(result)
  local text = require('xcsh.text')
  local lines = vim.tbl_map(function(command)
    local name = '/' .. text.one_line(wire.str(command.name))
    local description = text.one_line(wire.str(command.description))
    return description ~= '' and name .. ' · ' .. description or name
  end, wire.tbl(result.commands))
  if #lines == 0 then
    return M.notify('The engine has no commands.')
  end
  M.scratch('commands', lines)
end
shown['xcsh.answer'] = function()
  M.notify('Question answered.')
end
shown['xcsh.login'] = function(result, _, cwd)
  open_result('the terminal to log in', function()
    require('xcsh.login').open(result, cwd)
  end)
end
shown['xcsh.setApproval'] = function(result)
  M.notify(('Approval mode: %s.'):format(require('xcsh.labels').mode(result.mode)))
end
shown['xcsh.approve'] = function(result)
  M.notify(('Tool call answered: %s.'):format(result.decision))
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

---@param name string
---@param result any
---@param bang boolean
---@param cwd string
---@param args table<string, any>
local function show_result(name, result, bang, cwd, args)
  local show = shown[name]
  if show then
    return show(result, bang, cwd, args)
  end
  local lines = vim.split(vim.inspect(result), '\n')
  local short = name:gsub('^xcsh%.', '')
  local cursor = wire.str(wire.tbl(result).next)
  if cursor ~= '' then
    lines[#lines + 1] = ('-- The next page: :Xcsh %s cursor=%s'):format(short, cursor)
  end
  local bufnr = M.scratch(short, lines)
  vim.bo[bufnr].syntax = 'lua'
end

---Shows the result of a command.
---@param name string
---@param result any
---@param bang boolean
---@param cwd string the directory of the command
---@param intent? xcsh.Intent of the user's command; nil if the user waits for its result
---@param args? table<string, any> the arguments of the command
function M.result(name, result, bang, cwd, intent, args)
  presenting = intent and { intent = intent, cwd = cwd }
  local ok, problem = pcall(show_result, name, result, bang, cwd, args or {})
  presenting = nil
  if not ok then
    error(problem, 0)
  end
end

return M
