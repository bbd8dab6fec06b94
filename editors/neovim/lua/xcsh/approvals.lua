-- Tool calls that wait for the person's word. Each is brought to one place: to who reviews
-- changes now, to a chat that is on the screen, or to vim.ui.select. Whoever answers first
-- is heard.

local text = require('xcsh.text')
local wire = require('xcsh.wire')

local M = {}

---@alias xcsh.Decision 'once'|'session'|'workspace'|'deny'

---@class xcsh.Approval the parameters of xcsh/approve
---@field cwd string
---@field sessionId string
---@field id string
---@field tool string
---@field args any
---@field title? string
---@field diff? string
---@field paths? string[]
---@field outside? string[]
---@field rules? table[]

---@class xcsh.WaitingApproval
---@field params xcsh.Approval
---@field settle fun(decision: xcsh.Decision)
---@field told boolean the event about it has come
---@field shown boolean it is somewhere on the screen, or was

---@type table<string, xcsh.WaitingApproval>
local waiting = {}

---Takes a request for itself and settles it; false leaves it to the others.
---@alias xcsh.Reviewer fun(params: xcsh.Approval, settle: fun(d: xcsh.Decision)): boolean

local reviewers = {} ---@type xcsh.Reviewer[]

---@param cwd string
---@param id string
local function key(cwd, id)
  return cwd .. '\n' .. id
end

---What a rule allows, in words.
---@param rule table
local function rule_text(rule)
  if wire.str(rule.line) ~= '' then
    return rule.line
  elseif type(rule.words) == 'table' then
    return table.concat(wire.texts(rule.words), ' ') .. (rule.exact and '' or ' …')
  elseif rule.edit then
    return 'edits in the folder'
  end
  return wire.str(rule.tool)
end

---More of a question than this is not shown in a list of answers.
local max_question = 400 -- bytes

---What "session" would allow from then on; "" when there is nothing more to allow, or
---more than a person would read.
---@param params xcsh.Approval
---@return string
function M.allows(params)
  local all = vim.tbl_map(rule_text, wire.tbl(params.rules))
  local said, whole = text.clip(table.concat(all, ', '), max_question)
  return whole and said or ''
end

---@param params xcsh.Approval
---@return string introduction, string what
local function wish(params)
  local title = wire.str(params.title)
  if title ~= '' then
    return 'xcsh wants to: ', title
  end
  return ('xcsh wants to use %s: '):format(text.one_line(params.tool)), vim.json.encode(params.args)
end

---@param lines string[]
---@param params xcsh.Approval
local function add_outside(lines, params)
  for _, path in ipairs(wire.texts(params.outside)) do
    lines[#lines + 1] = 'Outside the folder: ' .. text.clip(path, max_question)
  end
  return lines
end

---All of what is asked, in lines.
---@param params xcsh.Approval
---@return string[]
function M.question(params)
  local introduction, what = wish(params)
  local lines = text.whole(what)
  for i = 2, #lines do
    lines[i] = '  ' .. lines[i]
  end
  lines[1] = introduction .. lines[1]
  return add_outside(lines, params)
end

---What is asked, above a list of answers, and those. What is not shown whole there can be
---allowed once only.
---@param params xcsh.Approval
---@return string[] lines
---@return { title: string, decision?: xcsh.Decision }[]
local function choices(params)
  local introduction, what = wish(params)
  local said, whole = text.clip(what, max_question)
  local all = { { title = 'Allow', decision = 'once' } }
  local allows = M.allows(params)
  if allows ~= '' and whole then
    all[#all + 1] = { title = 'Allow for this session: ' .. allows, decision = 'session' }
    all[#all + 1] = { title = 'Always allow in this folder: ' .. allows, decision = 'workspace' }
  end
  if wire.str(params.diff) ~= '' or not whole then
    all[#all + 1] = { title = 'Show the change' }
  end
  all[#all + 1] = { title = 'Deny', decision = 'deny' }
  return add_outside({ introduction .. said }, params), all
end

---Closing the question is a no.
---@param entry xcsh.WaitingApproval
local function select(entry)
  local params = entry.params
  local lines, answers = choices(params)
  vim.ui.select(answers, {
    prompt = table.concat(lines, '\n') .. ': ',
    kind = 'xcsh.approval',
    format_item = function(choice)
      return choice.title
    end,
  }, function(choice)
    if choice and not choice.decision then
      local view = require('xcsh.view')
      local all = M.question(params)
      if wire.str(params.diff) ~= '' then
        all = text.whole(params.diff)
      end
      local bufnr = view.scratch('change', all)
      vim.bo[bufnr].filetype = 'diff'
      -- The change has to be on the screen before a question covers it.
      vim.cmd.redraw()
      return select(entry)
    end
    entry.settle(choice and choice.decision or 'deny')
  end)
end

---@param entry xcsh.WaitingApproval
local function present(entry)
  for i = #reviewers, 1, -1 do
    if reviewers[i](entry.params, entry.settle) then
      entry.shown = true
      return
    end
  end
  local chat = package.loaded['xcsh.chat']
  if chat and chat.visible(entry.params.cwd) then
    return
  end
  entry.shown = true
  select(entry)
end

---Answers xcsh/approve once somebody decided. Called in a coroutine, as every request of
---the server is.
---@param params xcsh.Approval
---@return { decision: xcsh.Decision }
function M.ask(params)
  local co = coroutine.running()
  local decision, suspended ---@type xcsh.Decision?, boolean?
  local name = key(params.cwd, params.id)
  local entry
  entry = {
    params = params,
    told = false,
    shown = false,
    settle = function(with)
      if waiting[name] ~= entry then
        return
      end
      waiting[name] = nil
      decision = with
      if suspended then
        vim.schedule(function()
          coroutine.resume(co)
        end)
      end
    end,
  }
  waiting[name] = entry
  present(entry)
  if not decision then
    suspended = true
    coroutine.yield()
  end
  return { decision = decision }
end

---Answers a request, whether or not it came as one.
---@param cwd string
---@param id string
---@param decision xcsh.Decision
function M.decide(cwd, id, decision)
  local entry = waiting[key(cwd, id)]
  if entry then
    return entry.settle(decision)
  end
  local args = { cwd = cwd, id = id, decision = decision }
  require('xcsh.client').execute('xcsh.approve', args, function(err)
    if err then
      require('xcsh.view').error(err)
    end
  end)
end

---Takes in which calls of a folder wait. One that was among them and is not any more was
---answered elsewhere; what is said now does not matter.
---@param cwd string
---@param approvals { id: string }[]
function M.follow(cwd, approvals)
  local open = {}
  for _, prompt in ipairs(wire.tbl(approvals)) do
    open[key(cwd, wire.str(prompt.id))] = true
  end
  for name, entry in pairs(waiting) do
    if entry.params.cwd == cwd then
      entry.told = entry.told or open[name] or false
      if entry.told and not open[name] then
        entry.settle('deny')
      end
    end
  end
end

---Asks in another place what the chat of a folder showed: it was closed.
---@param cwd string
function M.closed(cwd)
  for _, entry in pairs(waiting) do
    if entry.params.cwd == cwd and not entry.shown then
      present(entry)
    end
  end
end

---Lets somebody take requests, the newest first, until the returned function is called.
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

---The requests that wait in a folder, or in all.
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

---Forgets everything: the server has ended, and nobody waits for an answer.
function M.forget()
  waiting = {}
end

return M
