-- Tool calls that need the user's permission. Each is announced, and shown in a visible chat;
-- nothing opens by itself. The user answers in the chat or in a window opened with :XcshApprovals.
-- The first answer counts.

local text = require('xcsh.text')
local waiting_room = require('xcsh.waiting')
local wire = require('xcsh.wire')

local M = {}

---@alias xcsh.Decision xcsh.wire.ApprovalDecision

---@class xcsh.Approval the parameters of xcsh/approve
---@field cwd string
---@field sessionId string
---@field id string
---@field tool string
---@field args any
---@field title? string
---@field diff? string
---@field paths? string[]
---@field base? string
---@field hosted? string
---@field task? string the subagent that makes the call
---@field outside? string[]
---@field protected? string[]
---@field changed? boolean
---@field unsandboxed? boolean
---@field blocked? string[]
---@field rules? table[]
---@field wider? table[] what the wider decisions allow; absent for most calls

---@class xcsh.WaitingApproval
---@field params xcsh.Approval
---@field settle fun(decision: xcsh.Decision)
---@field announced boolean the approvals_changed event for it has arrived
---@field gone fun(decision: xcsh.Decision)[] called once it is settled
---@field review? fun(how?: 'inline'|'tab')
---@field revised? boolean it is being approved with the user's text

---@type table<string, xcsh.WaitingApproval>
local waiting = {}

---The calls that the newest approvals_changed event of a folder lists. It can arrive before the
---request.
---@type table<string, table<string, boolean>>
local listed = {}

---Takes over a request, shows it and settles it; false leaves it to the other reviewers.
---@alias xcsh.Reviewer fun(entry: xcsh.WaitingApproval): boolean

local reviewers = {} ---@type xcsh.Reviewer[]

---@param cwd string
---@param id string
local function key(cwd, id)
  return cwd .. '\n' .. id
end

---Returns the scope of a rule in words: the server's description, or one built from the rule's
---fields.
---@param rule table
local function rule_text(rule)
  if wire.str(rule.text) ~= '' then
    return rule.text
  elseif wire.str(rule.line) ~= '' then
    return rule.line
  elseif type(rule.words) == 'table' then
    return table.concat(wire.texts(rule.words), ' ') .. (rule.exact and '' or ' …')
  elseif rule.edit then
    return 'edits to files in this folder, except protected files'
  end
  return wire.str(rule.tool)
end

---Longer scopes are not offered, because users would not read them.
local max_scope = 400 -- bytes

---Returns the scope of rules, "" if they add nothing or are too long for a user to read.
---@param rules any
---@return string
local function scope(rules)
  local all = vim.tbl_map(rule_text, wire.tbl(rules))
  local said, whole = text.clip(table.concat(all, '; '), max_scope)
  return whole and said or ''
end

---Returns the scope of "session" and "workspace", "" if they are not offered.
---@param params xcsh.Approval
---@return string
function M.allows(params)
  return scope(params.rules)
end

---Returns the scope of "session-wider" and "workspace-wider", "" if they are not offered.
---@param params xcsh.Approval
---@return string
function M.allows_wider(params)
  return scope(params.wider)
end

---Converts "Edit a.lua" to "edit a.lua", for use inside a sentence.
---@param title string
local function uncapitalized(title)
  return (title:gsub('^%u%l', string.lower))
end

---Returns the question in two parts. A command comes after the question mark, which would look
---like a part of it.
---@param params xcsh.Approval
---@return string introduction, string what
local function wish(params)
  local title = wire.str(params.title)
  local task = wire.str(params.task)
  if task ~= '' then
    local rest = vim.tbl_extend('force', {}, params)
    rest.task = nil
    local introduction, what = wish(rest)
    return ('In task %s: %s'):format(text.one_line(task), introduction), what
  end
  local command = title:match('^Run (.*)$')
  if command then
    return 'Allow xcsh to run this command? ', command
  elseif title ~= '' then
    return 'Allow xcsh to ', uncapitalized(title) .. '?'
  end
  return ('Allow xcsh to use %s? '):format(text.one_line(params.tool)), vim.json.encode(params.args)
end

---@param lines string[]
---@param label string
---@param values string[]
local function add_list(lines, label, values)
  for i, value in ipairs(values) do
    for j, line in ipairs(text.whole(value)) do
      local indent = (' '):rep(vim.api.nvim_strwidth(label))
      lines[#lines + 1] = (i == 1 and j == 1 and label or indent) .. line
    end
  end
end

---Appends the warnings about a call as lines: outside the sandbox, outside the folder, protected
---files.
---@param lines string[]
---@param params xcsh.Approval
local function add_warnings(lines, params)
  if params.unsandboxed == true then
    local blocked = wire.texts(params.blocked)
    local line = 'Runs once outside the sandbox.'
    if #blocked == 0 then
      lines[#lines + 1] = line
    end
    add_list(lines, line .. ' Blocked: ', blocked)
  else
    local line = 'Runs again with write and network access. Blocked: '
    add_list(lines, line, wire.texts(params.blocked))
  end
  local protects = 'Changes protected files: '
  if params.changed == true then
    protects = 'Changed protected files: '
  elseif params.tool == 'bash' then
    protects = 'Refers to protected files: '
  end
  add_list(lines, protects, wire.texts(params.protected))
  add_list(lines, 'Outside the folder: ', wire.texts(params.outside))
end

---Returns the full question as lines.
---@param params xcsh.Approval
---@return string[]
function M.question(params)
  local introduction, what = wish(params)
  local lines = text.whole(what)
  for i = 2, #lines do
    lines[i] = '  ' .. lines[i]
  end
  lines[1] = introduction .. lines[1]
  add_warnings(lines, params)
  return lines
end

---Returns the question on one line.
---@param params xcsh.Approval
---@return string
function M.summary(params)
  local introduction, what = wish(params)
  local notes = ''
  if params.unsandboxed == true then
    notes = notes .. '[outside the sandbox] '
  end
  if #wire.texts(params.protected) > 0 then
    notes = notes .. '[protected files] '
  end
  return notes .. introduction .. what
end

---Returns the possible answers and their keys.
---@param entry xcsh.WaitingApproval
---@return xcsh.DecisionKey[]
local function keys_of(entry)
  local function answer(decision)
    return function()
      entry.settle(decision)
    end
  end
  local keys = { { lhs = { 'a' }, does = 'allow once', run = answer('once') } }
  if M.allows(entry.params) ~= '' then
    table.insert(keys, { lhs = { 's' }, does = 'allow for session', run = answer('session') })
    table.insert(keys, { lhs = { 'w' }, does = 'always allow', run = answer('workspace') })
  end
  if M.allows_wider(entry.params) ~= '' then
    local names = { S = 'all reading tools for session', W = 'all reading tools always' }
    local session, always = answer('session-wider'), answer('workspace-wider')
    table.insert(keys, { lhs = { 'S' }, does = names.S, unlisted = true, run = session })
    table.insert(keys, { lhs = { 'W' }, does = names.W, unlisted = true, run = always })
  end
  table.insert(keys, { lhs = { 'd' }, does = 'deny', run = answer('deny') })
  return keys
end

---Returns a function that opens the window to allow or deny a call.
---@param entry xcsh.WaitingApproval
---@return fun() open
local function opener(entry)
  local window ---@type xcsh.DecisionWindow?
  table.insert(entry.gone, function()
    if window then
      window:expire()
    end
  end)
  return function()
    if window and window:focus() then
      return
    end
    local lines = M.question(entry.params)
    local allows = M.allows(entry.params)
    if allows ~= '' then
      vim.list_extend(lines, {
        '',
        '“Allow for session” and “always allow” apply to: ' .. allows,
      })
    end
    local wider = M.allows_wider(entry.params)
    if wider ~= '' then
      vim.list_extend(lines, {
        '',
        'S  allow all reading tools for session',
        'W  always allow all reading tools',
        '“All reading tools” means: ' .. wider,
      })
    end
    local diff = wire.str(entry.params.diff):gsub('\n$', '')
    if diff ~= '' then
      lines[#lines + 1] = ''
      vim.list_extend(lines, text.whole(diff))
    end
    window = require('xcsh.decide').open({
      title = 'approval',
      lines = lines,
      keys = keys_of(entry),
    })
  end
end

---@param cwd string
local function on_screen(cwd)
  local chat = package.loaded['xcsh.chat']
  return chat ~= nil and chat.visible(cwd)
end

---Returns what shows the change of an approval in its file; nil if it is no such change. A file
---that has changed since is shown in the window of the approval.
---@param entry xcsh.WaitingApproval
---@param open fun()
---@return fun(how?: 'inline'|'tab')? review, fun()? where
function M.reviewer(entry, open)
  local review = require('xcsh.review').begin(entry)
  if not review then
    return nil
  end
  entry.review = function(how)
    if not review:open(how) then
      open()
    end
  end
  return entry.review, function()
    return review:where()
  end
end

---@param entry xcsh.WaitingApproval
local function present(entry)
  for i = #reviewers, 1, -1 do
    if reviewers[i](entry) then
      return
    end
  end
  local params = entry.params
  local open = opener(entry)
  local review, where = M.reviewer(entry, open)
  local item = {
    kind = 'approval',
    cwd = params.cwd,
    says = M.summary(params),
    open = open,
    review = review,
    where = where,
    quiet = on_screen(params.cwd),
  }
  table.insert(entry.gone, waiting_room.add(item))
end

---Answers xcsh/approve once the user has decided. Runs in a coroutine, like every handler of a
---server request.
---@param params xcsh.Approval
---@return { decision: xcsh.Decision }
function M.ask(params)
  local name = key(params.cwd, params.id)
  local decision = waiting_room.await(function(answer)
    local entry
    entry = {
      params = params,
      announced = (listed[params.cwd] or {})[name] == true,
      gone = {},
      settle = function(with)
        if waiting[name] ~= entry then
          return
        end
        waiting[name] = nil
        for _, gone in ipairs(entry.gone) do
          gone(with)
        end
        answer(with)
      end,
    }
    waiting[name] = entry
    present(entry)
  end)
  return { decision = decision }
end

---@param args xcsh.wire.ApproveArgs
---@param done? fun(failed: boolean)
local function execute(args, done)
  require('xcsh.client').execute('xcsh.approve', args, function(err)
    if err then
      require('xcsh.view').error(err)
    end
    if done then
      done(err ~= nil)
    end
  end)
end

---Approves a change with the user's text of the file.
---@param entry xcsh.WaitingApproval
---@param content string
---@param base string checksum of the text that it replaces
function M.revise(entry, content, base)
  local params = entry.params
  entry.revised = true
  local args = { cwd = params.cwd, id = params.id, decision = 'once' }
  execute(vim.tbl_extend('error', args, { content = content, base = base }), function(failed)
    if failed then
      entry.revised = nil
    else
      entry.settle('once') -- the server has the answer
    end
  end)
end

---Opens the review of a pending call.
---@param cwd string
---@param id string
---@return boolean
function M.open_review(cwd, id)
  local entry = waiting[key(cwd, id)]
  local review = entry and entry.review
  if review then
    review()
  end
  return review ~= nil
end

---Rejects a plan. The user's reason goes to the model; without an input the call stays pending.
---@param cwd string
---@param id string
---@param reject fun() rejects the plan without a reason
local function ask_reason(cwd, id, reject)
  vim.ui.input({ prompt = 'What should change in the plan? ' }, function(reason)
    if reason and vim.trim(reason) ~= '' then
      execute({ cwd = cwd, id = id, decision = 'deny', reason = reason })
    elseif reason then
      reject()
    end
  end)
end

---Answers a pending approval, whether or not the server sent it as a request.
---@param cwd string
---@param prompt { id: string, tool: string } the call; its event can arrive before the request
---@param decision xcsh.Decision
function M.decide(cwd, prompt, decision)
  local function settle()
    local entry = waiting[key(cwd, prompt.id)]
    if entry then
      entry.settle(decision)
    else
      execute({ cwd = cwd, id = prompt.id, decision = decision })
    end
  end
  if decision == 'deny' and prompt.tool == 'exit_plan_mode' then
    return ask_reason(cwd, prompt.id, settle)
  end
  settle()
end

---Updates the pending calls of a folder. A call that is no longer pending was answered elsewhere,
---so the answer given here does not matter.
---@param cwd string
---@param approvals { id: string }[]
function M.follow(cwd, approvals)
  local open = {}
  for _, prompt in ipairs(wire.tbl(approvals)) do
    open[key(cwd, wire.str(prompt.id))] = true
  end
  listed[cwd] = open
  for name, entry in pairs(vim.tbl_extend('force', {}, waiting)) do
    if entry.params.cwd == cwd then
      entry.announced = entry.announced or open[name] or false
      if entry.announced and not open[name] then
        entry.settle(entry.revised and 'once' or 'deny')
      end
    end
  end
end

---Registers a reviewer, newest first. The returned function removes it.
---@param reviewer xcsh.Reviewer
---@return fun() stop
function M.review(reviewer)
  table.insert(reviewers, reviewer)
  return function()
    for i, known in ipairs(reviewers) do
      if known == reviewer then
        table.remove(reviewers, i)
      end
    end
  end
end

---Returns the pending requests of a folder, or of all folders.
---@param cwd? string
---@return xcsh.Approval[]
function M.waiting(cwd)
  local all = {}
  for _, entry in pairs(waiting) do
    if not cwd or entry.params.cwd == cwd then
      all[#all + 1] = entry.params
    end
  end
  return all
end

---Clears everything, because the server has stopped and needs no answers.
function M.forget()
  listed = {}
  for _, entry in pairs(vim.tbl_extend('force', {}, waiting)) do
    entry.settle('deny')
  end
  waiting_room.forget()
end

return M
