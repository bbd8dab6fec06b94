-- What users see of the result of each command.

local inputs = require('xcsh.inputs')
local listing = require('xcsh.listing')
local view = require('xcsh.view')
local wire = require('xcsh.wire')

local M = {}

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
    return view.notify(('Canceled%s.'):format(by), vim.log.levels.WARN)
  end
  view.notify(('%s "%s".'):format(verb, title(result)))
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
    view.prompt(table.concat(texts, '\n\n'), require('xcsh.config').root())
  end
end

---@param result { model?: { provider: string, id: string }, thinkingLevel: string }
local function chosen(result)
  local model = result.model
  local name = type(model) == 'table' and (model.provider .. '/' .. model.id) or 'no model'
  view.notify(('Model: %s. Thinking level: %s.'):format(name, result.thinkingLevel))
end

local function queued(result)
  view.notify(('Queued messages: %d.'):format(result.queued))
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
    view.notify(said .. '\n' .. table.concat(lines, '\n'), vim.log.levels.WARN)
  else
    view.notify(said)
  end
end

---Describes a completed purge, or its plan.
local function purged(result)
  if type(result.trashed) == 'table' then
    local count = #result.trashed
    local unit = count == 1 and 'session' or 'sessions'
    return view.notify(('Moved %d %s to the trash.'):format(count, unit))
  end
  local lines = {}
  for _, item in ipairs(wire.tbl(result.plan)) do
    lines[#lines + 1] = require('xcsh.text').one_line(('%s  %s'):format(item.lastUsed, item.name))
  end
  if #lines == 0 then
    return view.notify('No sessions to clean up.')
  end
  table.insert(lines, 1, 'These sessions would be moved to the trash (nothing has been moved):')
  view.scratch('purge', lines)
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
    view.notify(text:format(found), vim.log.levels.WARN)
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
      return view.notify('Started a new session.')
    end
    switched('Started', result.created, result)
  end,
  ['xcsh.resume'] = function(result)
    if wire.str(result.following) ~= '' then
      return -- its document is shown
    end
    local verb = type(result.forkedFrom) == 'string' and 'Forked into' or 'Resumed'
    switched(verb, result.switched, result)
    if result.switched then
      reading[result.session.cwd] = wire.pending(result).repairs and result.session.sessionId or nil
      repaired(result.repairs)
    end
  end,
  ['xcsh.fork'] = function(result)
    switched('Forked into', result.forked, result)
    view.prompt(result.editorText, result.session.cwd)
  end,
  ['xcsh.export'] = function(result)
    view.notify('Exported to ' .. result.path .. redacted(result))
  end,
  ['xcsh.dump'] = function(result, bang)
    if result.empty then
      return view.notify(result.text)
    end
    if bang then
      local register = require('xcsh.config').register()
      vim.fn.setreg(register, result.text)
      view.notify(('Copied the session to register %s'):format(register) .. redacted(result))
    end
    local bufnr = view.scratch('dump', vim.split(result.text, '\n'))
    vim.bo[bufnr].filetype = 'markdown'
  end,
  ['xcsh.list'] = function(result, _, cwd, args)
    if #result.sessions == 0 then
      return view.notify('No sessions found.')
    end
    listing.list(result.sessions, cwd, args, wire.str(result.nextCursor))
  end,
  ['xcsh.tree'] = function(result, _, _, args)
    listing.tree(result.nodes, result.leafId, args, wire.str(result.next))
  end,
  ['xcsh.branch'] = function(result)
    view.notify(('Continuing "%s" from the selected message.'):format(title(result)))
    view.prompt(result.editorText, result.session.cwd)
  end,
  ['xcsh.rename'] = function(result)
    view.notify(('Renamed to "%s".'):format(result.title))
  end,
  ['xcsh.describe'] = function(result)
    view.notify(result.description == '' and 'Description removed.' or 'Description saved.')
  end,
  ['xcsh.save'] = function(result)
    view.notify(
      ('Saved "%s" to %s'):format(result.title ~= '' and result.title or result.slug, result.path)
    )
  end,
  ['xcsh.import'] = imported,
  ['xcsh.purge'] = purged,
  ['xcsh.delete'] = function(result)
    local text = 'Moved the session to the trash. To restore it: ":XcshUndelete %s"'
    view.notify(text:format(result.trashed))
  end,
  ['xcsh.undelete'] = function(result)
    view.notify('Session restored: ' .. result.path)
  end,
  ['xcsh.deleteTrashed'] = function()
    view.notify('Session deleted permanently.')
  end,
  ['xcsh.move'] = function(result)
    view.notify(('Moved "%s" to %s.'):format(title(result), result.session.cwd))
  end,
  ['xcsh.transcript'] = function(result)
    if type(result.path) == 'string' then
      view.notify('Wrote ' .. result.path)
    end
  end,
  ['xcsh.share'] = function(result)
    local said = {}
    for _, text in ipairs({ result.message or '', result.url or '', result.previewUrl or '' }) do
      if type(text) == 'string' and text ~= '' then
        said[#said + 1] = text
      end
    end
    view.notify(#said > 0 and table.concat(said, '\n') or 'Session shared.')
  end,
  ['xcsh.label'] = function(_, _, _, args)
    view.notify(wire.str(args.label) ~= '' and 'Label saved.' or 'Label removed.')
  end,
  ['xcsh.doctor'] = function(result)
    if #result.problems == 0 then
      return view.notify('No problems found.')
    end
    local lines = vim.tbl_map(function(problem)
      local line = type(problem.line) == 'number' and ('line %d: '):format(problem.line) or ''
      return line .. problem.message
    end, result.problems)
    view.scratch('problems', lines)
  end,
}
shown['xcsh.team.status'] = function(result)
  view.scratch('team', require('xcsh.team').lines(result))
end
shown['xcsh.team.follow'] = function(_, _, _, args)
  if args.stop == true then
    view.notify('The session is not followed any more.')
  end -- else the server has had its document shown
end
shown['xcsh.team.take'] = function()
  view.notify('This device writes the session now.')
end
shown['xcsh.team.unshare'] = function(result)
  local text = 'Removed the session from the team. To restore it: ":XcshTeam undelete %s"'
  view.notify(text:format(require('xcsh.text').one_line(wire.str(result.sid), 64)))
end
shown['xcsh.team.undelete'] = function()
  view.notify('Session restored.')
end
shown['xcsh.continue'] = shown['xcsh.resume']
shown['xcsh.prompt'] = function(result, _, cwd)
  if result.queued then
    return view.notify('Queued. It will be sent when the current turn ends.')
  end
  if wire.str(result.command) ~= '' then
    local lines = require('xcsh.text').whole(wire.str(result.answer))
    vim.bo[view.scratch(result.command, lines)].filetype = 'markdown'
    return
  end
  if result.stopReason == 'aborted' then
    return view.notify('The turn was stopped.', vim.log.levels.WARN)
  end
  local chat = package.loaded['xcsh.chat']
  if chat and chat.visible(cwd) then
    return -- it is already visible
  end
  local bufnr = view.scratch('answer', vim.split(text_of(result.message), '\n'))
  vim.bo[bufnr].filetype = 'markdown'
end
shown['xcsh.steer'] = queued
shown['xcsh.followUp'] = queued
shown['xcsh.abort'] = function(result)
  view.notify(result.aborted and 'Stopped.' or 'Nothing is running.')
  unanswered(result.unanswered)
end
shown['xcsh.compact'] = function(result)
  view.notify(('Compacted %d tokens.'):format(result.tokensBefore))
end
shown['xcsh.models'] = function(result)
  view.scratch('models', vim.tbl_map(inputs.model_line, result.models))
end
shown['xcsh.setModel'] = chosen
shown['xcsh.setThinking'] = chosen
shown['xcsh.stats'] = function(result)
  view.scratch('stats', require('xcsh.labels').stats(result))
end
shown['xcsh.setKey'] = function(result)
  view.notify('Key stored in ' .. require('xcsh.text').one_line(wire.str(result.stored), 300))
end
shown['xcsh.engines'] = function(result)
  view.scratch('engines', vim.tbl_map(require('xcsh.engines').line, wire.tbl(result.engines)))
end
shown['xcsh.trust'] = function(result)
  local states = { trusted = 'is used', withoutServers = 'is used without its servers' }
  view.notify("The folder's set-up " .. (states[result.state] or 'is not used') .. '.')
end
shown['xcsh.setEngine'] = function(result)
  local name = require('xcsh.engine').label(result)
  local said = ('%s answers in this folder from the next prompt on. '):format(name)
  view.notify(vim.trim(said .. require('xcsh.text').one_line(wire.str(result.message))))
end
shown['xcsh.commands'] = function(result)
  local text = require('xcsh.text')
  local lines = vim.tbl_map(function(command)
    local name = '/' .. text.one_line(wire.str(command.name))
    local description = text.one_line(wire.str(command.description))
    return description ~= '' and name .. ' · ' .. description or name
  end, wire.tbl(result.commands))
  if #lines == 0 then
    return view.notify('The engine has no commands.')
  end
  view.scratch('commands', lines)
end
shown['xcsh.keep'] = function(result)
  view.notify(require('xcsh.changes.decide').kept(result))
end
shown['xcsh.answer'] = function()
  view.notify('Question answered.')
end
shown['xcsh.login'] = function(result, _, cwd)
  view.open('the terminal to log in', function()
    require('xcsh.login').open(result, cwd)
  end)
end
shown['xcsh.setApproval'] = function(result)
  view.notify(('Approval mode: %s.'):format(require('xcsh.labels').mode(result.mode)))
end
shown['xcsh.approve'] = function(result)
  view.notify(('Tool call answered: %s.'):format(result.decision))
end
shown['xcsh.bash'] = function(result)
  local lines = { '$ ' .. result.command }
  vim.list_extend(lines, vim.split((result.output:gsub('\n$', '')), '\n'))
  if result.cancelled then
    lines[#lines + 1] = '[stopped]'
  elseif result.exitCode ~= 0 then
    lines[#lines + 1] = ('[exit code %d]'):format(result.exitCode)
  end
  view.scratch('bash', lines)
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
  local bufnr = view.scratch(short, lines)
  vim.bo[bufnr].syntax = 'lua'
end

---Shows the result of a command.
---@param name string
---@param result any
---@param bang boolean
---@param cwd string the directory of the command
---@param intent? xcsh.Intent of the user's command; nil if the user waits for its result
---@param args? table<string, any> the arguments of the command
function M.show(name, result, bang, cwd, intent, args)
  view.present(intent, cwd, function()
    show_result(name, result, bang, cwd, args or {})
  end)
end

return M
