-- Handles the server's requests to the editor. Neovim's own handlers open lists and windows
-- immediately, which take keys meant for other text; these handlers wait until the user opens them,
-- unless the user is waiting for the result of a command.

local applied = require('xcsh.applied')
local intent = require('xcsh.intent')
local text = require('xcsh.text')
local waiting = require('xcsh.waiting')
local wire = require('xcsh.wire')

local M = {}

---Opens an item now if the user is waiting for it, else on request.
---@param item xcsh.WaitingItem
local function show(item)
  if intent.waits() then
    return item.open()
  end
  waiting.add(item)
end

---@param document table
---@return boolean stale
local function is_stale(document)
  local bufnr = vim.uri_to_bufnr(document.uri)
  return (vim.lsp.util.buf_versions[bufnr] or 0) > document.version
end

---Returns the buffers that an edit changes.
---@param edit table
---@return integer[]
local function buffers_of(edit)
  local bufnrs = {}
  for uri in pairs(edit.changes or {}) do
    table.insert(bufnrs, vim.uri_to_bufnr(uri))
  end
  for _, change in ipairs(edit.documentChanges or {}) do
    if change.textDocument then
      table.insert(bufnrs, vim.uri_to_bufnr(change.textDocument.uri))
    end
  end
  return bufnrs
end

---Returns why an edit cannot be made, before anything is changed: either all of it is made, or
---nothing.
---@param edit table
---@return string?
local function refusal(edit)
  for _, change in ipairs(edit.documentChanges or {}) do
    if change.textDocument and is_stale(change.textDocument) then
      return 'The document has changed since. Read it again.'
    end
  end
  for _, bufnr in ipairs(buffers_of(edit)) do
    if vim.api.nvim_buf_is_loaded(bufnr) and not vim.bo[bufnr].modifiable then
      local name = vim.fs.basename(vim.api.nvim_buf_get_name(bufnr))
      return ("The buffer of %s cannot be modified ('nomodifiable')."):format(name)
    end
  end
end

---Makes an edit; on failure, the buffers are as before.
---@param edit table
---@param encoding string
---@return string? problem
local function make(edit, encoding)
  local bufnrs, before = buffers_of(edit), {}
  for _, bufnr in ipairs(bufnrs) do
    before[bufnr] = vim.api.nvim_buf_get_changedtick(bufnr)
  end
  local ok, problem = pcall(vim.lsp.util.apply_workspace_edit, edit, encoding)
  if ok then
    return nil
  end
  for _, bufnr in ipairs(bufnrs) do
    if vim.api.nvim_buf_get_changedtick(bufnr) ~= before[bufnr] then
      vim.api.nvim_buf_call(bufnr, function()
        vim.cmd('silent undo')
      end)
    end
  end
  return tostring(problem)
end

---workspace/applyEdit: applies an edit, or returns the reason for a failure. Neovim drops an edit
---of a document that has changed since the server read it, but still reports success. The edit is
---one step of undo in each buffer, and the server knows the new texts before it gets the answer.
function M.apply_edit(_, params, ctx)
  -- Later versions print the names of edits, which the user then has to confirm.
  params.edit.changeAnnotations = nil
  for _, change in ipairs(params.edit.documentChanges or {}) do
    for _, edit in ipairs(change.edits or {}) do
      edit.annotationId = nil
    end
  end
  local problem = refusal(params.edit)
  if problem then
    return { applied = false, failureReason = problem }
  end
  -- Neovim's own handler prints the changes over the text that the user is reading.
  local client = assert(vim.lsp.get_client_by_id(ctx.client_id))
  applied.around(buffers_of(params.edit), function()
    require('xcsh.outbox').together(function()
      problem = make(params.edit, client.offset_encoding)
    end, require('xcsh.client').flush)
  end)
  return { applied = not problem, failureReason = problem }
end

---xcsh/save: saves a document that the agent has edited, before a command reads the file.
function M.save(_, params)
  return require('xcsh.buffers').save(wire.str(params.uri), wire.num(params.version))
end

---xcsh/context: a thing in the editor that the user's prompt names.
function M.context(_, params, ctx)
  return require('xcsh.context').answer(params, ctx)
end

---window/showMessageRequest: a question with a few answers.
function M.question(_, params)
  local actions = wire.tbl(params.actions)
  local message = text.one_line(wire.str(params.message), 1000)
  if #actions == 0 then
    require('xcsh.view').notify(message)
    return vim.NIL
  end
  return waiting.await(function(answer)
    show({
      kind = 'question',
      cwd = require('xcsh.config').root(),
      says = message,
      once = true,
      open = function()
        vim.ui.select(actions, {
          prompt = table.concat(text.whole(wire.str(params.message)), '\n') .. ': ',
          kind = 'xcsh.question',
          format_item = function(action)
            return text.one_line(wire.str(action.title))
          end,
        }, function(action)
          answer(action or vim.NIL)
        end)
      end,
    })
  end)
end

---LSP's types of messages, as levels of vim.notify.
local levels =
  { vim.log.levels.ERROR, vim.log.levels.WARN, vim.log.levels.INFO, vim.log.levels.DEBUG }

---window/showMessage
function M.message(_, params)
  require('xcsh.view').notify(wire.str(params.message), levels[wire.num(params.type)])
end

---Reports whether a browser can appear. On a machine without a display, as through SSH, vim.ui.open
---would fail or start a browser for terminals.
---@return boolean
local function has_display()
  local is_set = function(name)
    return (vim.env[name] or '') ~= ''
  end
  local desktop = vim.fn.has('mac') == 1 or vim.fn.has('win32') == 1 or vim.fn.has('wsl') == 1
  return desktop or is_set('DISPLAY') or is_set('WAYLAND_DISPLAY')
end

---window/showDocument: a file to edit, or a page for the browser. Without the focus, the file is
---loaded and listed, and no window shows it.
function M.document(_, params, ctx)
  local external = params.external == true
  if not external and params.takeFocus == false then
    return { success = require('xcsh.buffers').load(params.uri) }
  end
  if external and not has_display() then
    return { success = false }
  end
  local follow = require('xcsh.team.follow')
  local followed = not external and follow.is_followed(params.uri)
  if not external and not followed and not vim.startswith(params.uri, 'file:') then
    return { success = false }
  end
  local what = followed and 'a session of the team'
    or external and params.uri
    or vim.uri_to_fname(params.uri)
  show({
    kind = 'result',
    cwd = require('xcsh.config').root(),
    says = 'xcsh opened ' .. what,
    once = true,
    open = function()
      if external then
        local started, problem = vim.ui.open(params.uri)
        if not started and problem then
          require('xcsh.view').error({ message = problem })
        end
        return
      elseif followed then
        return follow.open(params.uri)
      end
      local client = assert(vim.lsp.get_client_by_id(ctx.client_id))
      local options = { reuse_win = true, focus = true }
      vim.lsp.util.show_document({ uri = params.uri }, client.offset_encoding, options)
    end,
  })
  return { success = true }
end

return M
